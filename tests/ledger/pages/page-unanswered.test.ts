// The page while the service does not respond: it retries failed reads and writes after increasing delays.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { findAddForm, findRow, openPages } from './opened-page.ts';

const LIST = /\/transactions\?/;

describe.skipIf(whyChromiumUnavailable())('the page while the service does not respond', () => {
  const pages = openPages();

  /** Opens a page whose timers do not run until the test moves the clock. */
  async function openWithStoppedClock(): Promise<Page> {
    const page = await pages.open();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    return page;
  }

  /** Counts the requests for a path, and loses them while `isLost` is true. */
  async function loseRequests(page: Page, path: RegExp, method = 'GET') {
    const state = { count: 0, isLost: true };
    await page.route(path, async (route) => {
      if (route.request().method() !== method) return await route.fallback();
      state.count += 1;
      if (state.isLost) await route.abort();
      else await route.fallback();
    });
    return state;
  }

  /** Waits for one round trip, in which the page makes every request that is due. */
  const waitForRoundTrip = (page: Page) =>
    page.evaluate("fetch('/me').then(({ status }) => status)");

  test('a first view that could not be read appears without any action by the user', async () => {
    await pages.createRow({ description: 'Read late', transaction_date: '1998-01-02' });
    const page = await pages.open();
    let failures = 2;
    await page.route(LIST, async (route) => {
      failures -= 1;
      if (failures < 0) return await route.fallback();
      if (failures === 0) return await route.fulfill({ status: 503, json: { message: 'Busy' } });
      await route.abort();
    });
    await page.goto(`${pages.url()}/#period=1998`);
    await findRow(page, 'Read late').waitFor();
    await page.getByText('The page tries again').waitFor({ state: 'detached' });
    expect(failures).toBe(-1);
  });

  test('a failure is shown in a sentence with its request, and a retry succeeds', async () => {
    const page = await openWithStoppedClock();
    const json = { success: false, error: 'internal_server_error', message: 'Oh' };
    const headers = { 'x-request-id': 'request-7' };
    await page.route('**/me', (route) => route.fulfill({ status: 500, headers, json }));
    await page.goto(pages.url());
    const notice = page.getByRole('alert');
    await notice.getByText('The service answered 500: Oh (request request-7)').waitFor();
    await page.unroute('**/me');
    await notice.getByRole('button', { name: 'Try again' }).click();
    await page.waitForSelector('.chips');
    expect(await notice.textContent()).toBe('');
  });

  test('nothing is read again while the page is hidden, or after the service refused a read with 403', async () => {
    const page = await openWithStoppedClock();
    const list = await loseRequests(page, LIST);
    await page.goto(pages.url());
    await page.getByText('The page tries again').waitFor();
    await setHidden(page, true);
    await page.clock.runFor(60_000);
    await waitForRoundTrip(page);
    expect(list.count).toBe(1);
    list.isLost = false;
    await setHidden(page, false);
    await page.waitForSelector('.chips');
    expect(list.count).toBe(2);

    const json = { success: false, error: 'forbidden', message: 'Not yours' };
    let refusals = 0;
    await page.route('**/categories?*', async (route) => {
      refusals += 1;
      await route.fulfill({ status: 403, json });
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Not yours').waitFor();
    await page.clock.runFor(60_000);
    await waitForRoundTrip(page);
    expect(refusals).toBe(1);
  });

  test('after one read of a view fails, the page reads the whole view again', async () => {
    await pages.createRow({ description: 'Read whole', transaction_date: '1997-01-02' });
    const page = await openWithStoppedClock();
    const listResponse = page.waitForResponse(LIST);
    let isLost = true;
    await page.route(/\/summary\?/, async (route) => {
      await listResponse;
      await (isLost ? route.abort() : route.fallback());
    });
    await page.goto(`${pages.url()}/#period=1997`);
    await page.getByText('The page tries again').waitFor();
    await pages.createRow({ description: 'Written meanwhile', transaction_date: '1997-01-03' });
    isLost = false;
    await page.clock.runFor(60_000);
    await findRow(page, 'Written meanwhile').waitFor();
    expect(await page.getByRole('region', { name: 'Totals' }).textContent()).toContain('2.00');
  });

  test('each retry of a write waits longer than the previous one', async () => {
    const page = await openWithStoppedClock();
    const writes = await loseRequests(page, /\/transactions$/, 'POST');
    await page.goto(pages.url());
    await findAddForm(page).getByLabel('Description').fill('Attempted');
    await findAddForm(page).getByLabel('Amount').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('the service does not answer').waitFor();
    await waitForRoundTrip(page);
    expect(writes.count).toBe(1);
    await page.clock.runFor(600);
    await expect.poll(() => writes.count).toBe(2);
    await waitForRoundTrip(page);
    await page.clock.runFor(600);
    await waitForRoundTrip(page);
    expect(writes.count).toBe(2);
    await page.clock.runFor(1_500);
    await expect.poll(() => writes.count).toBe(3);
    writes.isLost = false;
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    expect(await pages.readRows('Attempted')).toHaveLength(1);
  });
});

async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`(() => {
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  })()`);
}
