// Opens a page in the browser, watches the page for errors, and checks it with axe.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Long enough for a busy machine: only a test that hangs reaches it. Playwright's own limit is 30 seconds. */
const MAX_WAIT_MS = 900_000;

/** Opens a page in its own context, with waits long enough for a busy machine. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(MAX_WAIT_MS);
  return await context.newPage();
}

/** Closes all pages, without waiting for the requests that a test still holds back. */
export async function closePages(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}

/**
 * Collects errors and warnings of a page, and its requests to other origins.
 * @param isExpected tells whether the test provoked a message
 */
export function watchPage(
  page: Page,
  origin: string,
  isExpected: (message: string) => boolean = () => false,
): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const isProblem = ['error', 'warning'].includes(message.type());
    if (isProblem && !isExpected(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    const { origin: requested, protocol } = new URL(request.url());
    if (requested !== origin && protocol !== 'data:') problems.push(request.url());
  });
  return problems;
}

/** Expects that axe finds no violation, and that no content extends beyond the edge of the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  // axe is evaluated from outside: the page's content security policy would refuse it as a script.
  // Only the violations are returned: the results of a large page take megabytes.
  const violations = (await page.evaluate(
    `${AXE};axe.run().then(({ violations }) => violations)`,
  )) as AxeResults['violations'];
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
}
