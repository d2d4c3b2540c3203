// Watches a page in the browser, and holds it to what axe can find.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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
