// Opens a page in the browser, watches it, and holds it to what axe can find.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Only ends what hangs: no test may depend on how busy the machine is. Playwright's own limit is 30 seconds. */
const MAX_WAIT_MS = 300_000;

/** A page in a context of its own, whose waits last as long as a busy machine needs. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(MAX_WAIT_MS);
  return await context.newPage();
}

/** Closes all pages, also those whose requests a test still holds: nothing waits for their answers. */
export async function closePages(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}

/** Errors and warnings of a page, and what it asks of others than the origin. @param isMeant a message that a test provokes */
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
    const { origin: asked, protocol } = new URL(request.url());
    if (asked !== origin && protocol !== 'data:') problems.push(request.url());
  });
  return problems;
}

/** No fault that axe can find, and nothing beyond the edge of the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  // Not as a script of the page, which its policy would refuse.
  const { violations } = (await page.evaluate(`${AXE};axe.run()`)) as AxeResults;
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(beyond).toBeLessThanOrEqual(0);
}
