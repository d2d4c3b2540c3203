// The documentation page as a person uses it: it loads nothing from elsewhere, calls can be tried on it, and it has no
// fault that axe can find, in any of its states.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { DESCRIBED } from '../support/api/described-response.ts';
import { launchChromium, whyNoChromium } from './chromium.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe.skipIf(whyNoChromium())('the documentation page', () => {
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    problems.length = 0;
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== inject('apiUrl') && protocol !== 'data:') problems.push(request.url());
    });
    await page.goto(`${inject('apiUrl')}/docs`);
    await page.waitForSelector('.opblock');
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  async function expectAccessible() {
    // Not as a script of the page, which its policy would refuse.
    const { violations } = (await page.evaluate(`${AXE};axe.run()`)) as AxeResults;
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }

  test('shows every route that is described', async () => {
    expect(await page.locator('.opblock').count()).toBe(DESCRIBED.size);
    await expectAccessible();
  });

  test('is accessible with all routes open', async () => {
    for (const summary of await page.locator('.opblock-summary-control').all())
      await summary.click();
    await page.waitForFunction(
      `document.querySelectorAll('.opblock-body').length === ${DESCRIBED.size}`,
    );
    await expectAccessible();
  });

  test('fits a screen of 390 pixels with all routes open', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const summary of await page.locator('.opblock-summary-control').all())
      await summary.click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('every call answers at the first click', async () => {
    const operations = await page.locator('.opblock').all();
    for (const operation of operations) {
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'Execute' }).click();
      const status = operation.locator('.live-responses-table .response-col_status').last();
      await status.waitFor();
      // A category of that name may be there.
      expect(await status.textContent(), (await operation.getAttribute('id')) ?? '').toMatch(
        /^(20|409)/,
      );
      await operation.locator('.opblock-summary-control').click();
    }
  });

  test('a call can be tried, and its response read', async () => {
    const name = `From the page ${randomUUID()}`;
    await page.locator('#operations-categories-createCategory .opblock-summary-control').click();
    const operation = page.locator('#operations-categories-createCategory');
    await operation.getByLabel('Request body').fill(JSON.stringify({ name }));
    await operation.getByRole('button', { name: 'Execute' }).click();
    const response = operation.locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.textContent()).toContain(name);
    expect(await response.locator('.response-col_status').textContent()).toContain('201');
    await expectAccessible();
  });

  test('a key can be given', async () => {
    await page.locator('button.authorize').first().click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible();
  });
});

test.skipIf(whyNoChromium())(
  'the policy of the page names what may run, not where from',
  async () => {
    const { headers } = await fetch(`${inject('apiUrl')}/docs/`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'sha256-[^' ]+';/);
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);
