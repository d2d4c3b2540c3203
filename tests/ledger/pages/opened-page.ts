// Opens the page of a service with an empty ledger, in a browser that records every error and every request to another
// origin.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchChromium } from '../../../processes/chromium.ts';
import {
  closePages,
  expectAccessible,
  openPage,
  watchPage,
} from '../../shared/pages/opened-pages.ts';
import { openService } from '../support/running-service.ts';

export const AS_PHONE = { viewport: { width: 390, height: 844 } };

interface Row {
  readonly id: number;
  readonly description: string;
  readonly amount: number;
  readonly category_id: number | null;
  readonly category_name?: string;
  readonly notes: string | null;
}

/** Starts the browser and the service for the tests of a `describe`, within which it must be called. */
export function openPages() {
  let browser: Browser;
  let url = '';
  const problems: string[][] = [];

  beforeAll(async () => {
    const service = await openService();
    url = service.url;
    browser = await launchChromium();
    return service.stop;
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await closePages(browser);
    expect(problems.splice(0).flat()).toEqual([]);
  });

  async function call(method: string, path: string, body?: object, headers = {}) {
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { status } = response;
    return { status, ...((await response.json()) as { readonly data: never }) };
  }

  return {
    url: () => url,
    /** Opens a page. Error statuses do not count as problems, because tests provoke them. */
    async open(options: BrowserContextOptions = {}): Promise<Page> {
      const page = await openPage(browser, { locale: 'en-GB', ...options });
      const isProvoked = (message: string) =>
        /status of [45]\d\d|ERR_FAILED|ERR_INTERNET/.test(message);
      problems.push(watchPage(page, url, isProvoked));
      return page;
    },
    /** Opens the page and waits for its figures. On a busy machine the page may retry reads that were refused for lack of time. */
    async visit(hash = '', options: BrowserContextOptions = {}): Promise<Page> {
      const page = await this.open(options);
      await page.goto(`${url}/${hash}`);
      await page.waitForSelector(`${IDLE} > .of-scope:not(.stale, .withheld)`);
      return page;
    },
    call,
    post: (path: string, body: object, headers = {}) => call('POST', path, body, headers),
    async readRows(text: string): Promise<readonly Row[]> {
      const { data } = await call('GET', `/transactions/export?format=json&q=${encodeURI(text)}`);
      return data;
    },
    async createCategory(name: string): Promise<number> {
      const { data } = await call('POST', '/categories', { name });
      return (data as { id: number }).id;
    },
    async createRow(fields: object): Promise<number> {
      const body = { description: 'Row', amount: 1, type: 'expense', ...fields };
      const { data } = await call('POST', '/transactions', body);
      return (data as { id: number }).id;
    },
  };
}

const IDLE = '#ledger[aria-busy=false]';

/** Waits until each request of the page has a response or has failed. */
export async function waitUntilIdle(page: Page): Promise<void> {
  await page.waitForSelector(IDLE);
}

/** Stops the page's timers: a busy machine may take longer than the ten seconds in which a deletion can be undone. */
export async function stopTime(page: Page): Promise<void> {
  await page.clock.setFixedTime(new Date());
}

/** Waits for the next frame, in which the browser has drawn all changes. */
export async function waitForNextFrame(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((drawn) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(drawn))))',
  );
}

export async function expectAccessibleInBothSchemes(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await waitForNextFrame(page);
    await expectAccessible(page);
  }
}

export function findAddForm(page: Page) {
  return page.getByRole('form', { name: 'Add transaction' });
}

export function findRow(page: Page, text: string | RegExp) {
  return page
    .getByRole('table', { name: 'Transactions' })
    .getByRole('row')
    .filter({ hasText: text });
}
