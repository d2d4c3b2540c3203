// The browser of the tests: Chromium as the system's packages install it, or CHROMIUM_BIN.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { readOutput } from '../../../processes/tools.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const { CHROMIUM_BIN: program = 'chromium' } = process.env;

/** Why it cannot run on this machine; undefined where it can. */
export function whyNoChromium(): string | undefined {
  return readOutput(program, '--version') ? undefined : 'there is no Chromium';
}

/** One that reaches nothing but the page's own service. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = readOutput('sh', '-c', `command -v "${program}"`)?.trim() ?? program;
  return await chromium.launch({
    executablePath,
    args: [
      ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
      // Chromium refuses to start as root with its sandbox, as in containers.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
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
