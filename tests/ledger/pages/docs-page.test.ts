// The documentation page as a person uses it: the page loads nothing from other sites and lets its reader try calls. Axe finds no
// accessibility error in any state of the page.
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { launchChromium, whyChromiumUnavailable } from '../../../processes/chromium.ts';
import {
  closePages,
  expectAccessible,
  openPage,
  watchPage,
} from '../../shared/pages/opened-pages.ts';
import { DESCRIBED } from '../support/api/described-response.ts';

describe.skipIf(whyChromiumUnavailable())('the documentation page', () => {
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    page = await openPage(browser);
    problems = watchPage(page, inject('apiUrl'));
    await page.goto(`${inject('apiUrl')}/docs`);
    await page.waitForSelector('.opblock');
  });
  afterEach(async () => {
    await closePages(browser);
    expect(problems).toEqual([]);
  });

  test('shows every described route', async () => {
    expect(await page.locator('.opblock').count()).toBe(DESCRIBED.size);
    await expectAccessible(page);
  });

  test('is accessible with all routes open on a screen of 390 pixels', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    // All clicks at once: after each click the page draws every open route again.
    await page.evaluate(
      `for (const summary of document.querySelectorAll('.opblock-summary-control')) summary.click()`,
    );
    await page.waitForFunction(
      `document.querySelectorAll('.opblock-body').length === ${DESCRIBED.size}`,
    );
    await expectAccessible(page);
  });

  test('shows an example of each failure, such as a 404', async () => {
    await page.locator('#operations-categories-readCategory .opblock-summary-control').click();
    const failure = page.locator('#operations-categories-readCategory tr[data-code="404"]');
    await failure.getByText('"Category with id 7 not found"').waitFor();
    expect(await failure.textContent()).toMatch(/"success": false,\s*"error": "not_found"/);
  });

  test('lets its reader try a call and read the response', async () => {
    const name = `From the page ${randomUUID()}`;
    await page.locator('#operations-categories-createCategory .opblock-summary-control').click();
    const operation = page.locator('#operations-categories-createCategory');
    await operation.getByLabel('Request body').fill(JSON.stringify({ name }));
    await operation.getByRole('button', { name: 'Execute' }).click();
    const response = operation.locator('.live-responses-table .response');
    await response.waitFor();
    expect(await response.textContent()).toContain(name);
    expect(await response.locator('.response-col_status').textContent()).toContain('201');
    await expectAccessible(page);
  });

  test('has a dark scheme, a link to the ledger page, and the API key that was entered there', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.evaluate(`sessionStorage.setItem('api-key', 'fl_of_the_page')`);
    await page.reload();
    await page.waitForSelector('.dark-mode .opblock');
    await expectAccessible(page);
    // The test responds to the request itself, because the service would refuse this key.
    await page.route('**/me', (route) => route.fulfill({ json: { success: true, data: {} } }));
    const request = page.waitForRequest('**/me');
    await page.locator('[id$="-identifyCaller"] .opblock-summary-control').first().click();
    await page.getByRole('button', { name: 'Execute' }).click();
    expect((await request).headers().authorization).toBe('Bearer fl_of_the_page');
    expect(await page.getByRole('link', { name: 'Finance ledger' }).getAttribute('href')).toBe('/');
  });

  test('lets its reader enter a key', async () => {
    await page.locator('button.authorize').first().click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
  });
});

test.skipIf(whyChromiumUnavailable())(
  'the security policy of the documentation page names the allowed scripts by hash, not by origin',
  async () => {
    const { headers } = await fetch(`${inject('apiUrl')}/docs/`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'sha256-[^' ]+';/);
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);
