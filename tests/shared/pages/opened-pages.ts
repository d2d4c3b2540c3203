// Opens a page in the browser, watches the page for errors, and checks it with axe.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Only ends a test that hangs: no test may depend on how busy the machine is. Playwright's own limit is 30 seconds. */
const MAX_WAIT_MS = 900_000;

/** A page in a context of its own, whose waits last as long as a busy machine needs. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(MAX_WAIT_MS);
  return await context.newPage();
}

/** Closes all pages, without waiting for the requests that a test still holds. */
export async function closePages(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}

/**
 * Collects errors and warnings of a page, and its requests to other origins.
 * @param isMeant tells whether the test provoked a message
 */
export function watch(
  page: Page,
  origin: string,
  isMeant: (message: string) => boolean = () => false,
): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const isProblem = ['error', 'warning'].includes(message.type());
    if (isProblem && !isMeant(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    const { origin: requested, protocol } = new URL(request.url());
    if (requested !== origin && protocol !== 'data:') problems.push(request.url());
  });
  return problems;
}

/** Expects no fault that axe can find, and no content beyond the edge of the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  // axe is evaluated from outside: the page's content security policy would refuse it as a script.
  const { violations } = (await page.evaluate(`${AXE};axe.run()`)) as AxeResults;
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
}
