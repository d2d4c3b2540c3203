// The front page as a person uses it: by mouse and by keyboard, on a phone, in the dark, without a key and with a wrong
// one. It has no fault that axe can find, in any of its states.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  expectAccessible,
  launchChromium,
  watch,
  whyNoChromium,
} from '../../shared/pages/chromium.ts';
import { openService } from '../support/running-service.ts';

const HOSTILE = `<img src=x onerror="document.title=1"> ${'W'.repeat(200)}`;
const TRANSACTIONS = 20_000;
const IDLE = '#ledger[aria-busy=false]';

// A ledger of its own, which is empty at first.
let url = '';

async function post(path: string, body: object): Promise<Response> {
  return await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
}

/** Twenty thousand over ten years: each thousand of a category, a hundred in each request. */
async function fillLedger(): Promise<void> {
  const thisYear = new Date().getFullYear();
  const names = Array.from({ length: 19 }, (_, n) => `Category ${n}`);
  const ids: number[] = [];
  for (const name of [HOSTILE, ...names]) {
    const { data } = (await (await post('/categories', { name })).json()) as {
      data: { id: number };
    };
    ids.push(data.id);
  }
  const day = (n: number) =>
    new Date(Date.UTC(thisYear - (n % 10), n % 12, 1 + (n % 28))).toISOString().slice(0, 10);
  const row = (n: number) => ({
    description: n % 100 === 0 ? HOSTILE : `Row ${n}`,
    amount: (n % 900) + 0.25,
    type: n % 5 === 0 ? 'income' : 'expense',
    category_id: ids[n % ids.length],
    transaction_date: day(n),
  });
  const requests = Array.from({ length: TRANSACTIONS / 100 }, (_, n) =>
    Array.from({ length: 100 }, (_, m) => row(n * 100 + m)),
  );
  const send = async () => {
    for (let next = requests.pop(); next; next = requests.pop()) {
      expect((await post('/transactions/bulk', { transactions: next })).status).toBe(207);
    }
  };
  await Promise.all([send(), send(), send(), send()]);
}

describe.skipIf(whyNoChromium())('the front page', () => {
  let browser: Browser;
  const opened: string[][] = [];

  beforeAll(async () => {
    const service = await openService();
    ({ url } = service);
    browser = await launchChromium();
    return service.stop;
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(opened.splice(0).flat()).toEqual([]);
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage({ locale: 'de-DE', ...options });
    // Of the statuses that the tests ask for.
    opened.push(watch(page, url, (message) => /status of (400|401|500)/.test(message)));
    return page;
  }

  async function visit(hash: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await open(options);
    await page.goto(`${url}/${hash}`);
    await page.waitForSelector(IDLE);
    return page;
  }

  const asPhone = { viewport: { width: 390, height: 844 } };

  test('an empty ledger says what to do', async () => {
    const page = await visit('');
    expect(await page.locator('#empty').textContent()).toContain('npm run import');
    expect(await page.locator('#charts').isVisible()).toBe(false);
    await expectAccessible(page);
  });

  describe('of twenty thousand transactions', () => {
    beforeAll(fillLedger, 300_000);

    test('asks for five things at first, and for nothing while nothing changes', async () => {
      const page = await open();
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.resourceType() === 'fetch') asked.push(new URL(request.url()).pathname);
      });
      await page.goto(url);
      await page.waitForSelector(IDLE);
      expect(asked.toSorted()).toEqual([
        '/categories',
        '/me',
        '/summary',
        '/summary',
        '/transactions',
      ]);
      await page.getByRole('link', { name: 'Income', exact: true }).click();
      await page.waitForSelector('#shown [aria-current]:has-text("Income")');
      await page.waitForSelector(IDLE);
      expect(asked).toHaveLength(5);
    });

    test.each([
      ['light', {}],
      ['dark', { colorScheme: 'dark' }],
      ['on a phone', asPhone],
      ['on a phone in the dark', { ...asPhone, colorScheme: 'dark' }],
    ] as const)(
      '%s has no fault, also with all categories and the table open',
      async (_, options) => {
        const page = await visit('#range=all&categories=all&category=2&page=2', options);
        await page.locator('summary').click();
        await expectAccessible(page);
      },
    );

    test('a hostile description is text', async () => {
      const page = await visit('#range=all', asPhone);
      await page.getByRole('combobox', { name: 'Category' }).selectOption({ index: 1 });
      await page.waitForSelector(`#rows td:has-text("<img src=x")`);
      expect(await page.locator('img').count()).toBe(0);
      expect(await page.title()).toBe('Finance ledger');
      await expectAccessible(page);
    });

    test('category, page and range are in the address, and go back and forward', async () => {
      const page = await visit('#range=all');
      await page.locator('#categories-chart a').first().click();
      await page.waitForSelector('#categories-chart [aria-current]');
      expect(await page.locator('#periods-title').textContent()).toContain(': ');
      await page.getByRole('link', { name: 'Next page' }).click();
      await page.waitForSelector('#pages [aria-current=page]:has-text("2")');
      expect(page.url()).toMatch(/#range=all&category=\d+&page=2$/);
      await page.reload();
      await page.waitForSelector('#pages [aria-current=page]:has-text("2")');
      await page.goBack();
      await page.goBack();
      await page.waitForSelector('#list-title:has-text("(20.000)")');
    });

    test('a search of all years goes on where the list ends', async () => {
      const page = await visit('#range=all');
      await page.getByRole('searchbox').fill('row 1999');
      // 1999 and 19991 to 19999; the tenth of each hundred has another text.
      await page.waitForSelector('#list-title:has-text("(11)")');
      expect(await page.locator('#rows tbody tr').count()).toBe(11);
    });

    test('the progress of a search that is given up goes with it', async () => {
      const page = await visit('#range=all');
      await page.route('**/transactions/export*', () => undefined);
      await page.getByRole('searchbox').fill('row 1999');
      await page.waitForSelector('#progress:has-text("Searching all transactions")');
      await page.getByRole('link', { name: '3 months' }).click();
      await page.waitForSelector('#ranges [aria-current]:has-text("3 months")');
      await page.waitForSelector(IDLE);
      expect(await page.locator('#progress').textContent()).toBe('');
    });

    const [thisYear, lastYear] = [0, 1].map((ago) => String(new Date().getFullYear() - ago));
    const isDecember = new Date().getMonth() === 11;
    test.each([
      ['', isDecember ? [thisYear] : [lastYear, thisYear]],
      [`#range=${lastYear}`, [lastYear]],
      ['#range=all', []],
    ])('nothing is cut on a phone, and each year is named once: "%s"', async (hash, shownYears) => {
      const page = await visit(hash, asPhone);
      const ticks = await page.evaluate(`(() => {
          const { left, right } = document.querySelector('#periods-chart svg').getBoundingClientRect();
          return [...document.querySelectorAll('.tick')]
            .filter((tick) => tick.getBoundingClientRect().left < left || tick.getBoundingClientRect().right > right)
            .map(({ textContent }) => textContent);
        })()`);
      // As wide as they would be alone, with the text that is chosen at first.
      const choices =
        await page.evaluate(`[...document.querySelectorAll('#filters select')].filter((choice) => {
          const alone = document.createElement('select');
          alone.append(choice.options[0].cloneNode(true));
          document.body.append(alone);
          const { width } = alone.getBoundingClientRect();
          alone.remove();
          return width > choice.getBoundingClientRect().width;
        }).map(({ id }) => id)`);
      expect([ticks, choices]).toEqual([[], []]);
      const years = await page.locator('.tick.year').allTextContents();
      expect(years).toEqual(shownYears);
    });

    test('the bars are read by the arrow keys, with the tooltip of the mouse', async () => {
      const page = await visit('');
      await page.locator('.period').first().focus();
      await page.keyboard.press('ArrowRight');
      const byKey = await page.locator('#tooltip').textContent();
      await page.keyboard.press('Escape');
      expect(await page.locator('#tooltip').isVisible()).toBe(false);
      await page.locator('.period').nth(1).hover();
      expect(await page.locator('#tooltip').textContent()).toBe(byKey);
      expect(byKey).toContain('Income');
    });

    test('the links keep the focus', async () => {
      const page = await visit('');
      await page.getByRole('link', { name: 'Next page' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('#pages [aria-current=page]:has-text("2")');
      expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Next page');
    });

    test('more years than a summary may have leave no figures of another range', async () => {
      const oldest = await post('/transactions', {
        description: 'Oldest',
        amount: 1,
        type: 'expense',
        transaction_date: '0001-01-01',
      });
      const { data } = (await oldest.json()) as { data: { id: number } };
      const address = `${url}/transactions/${data.id}`;
      onTestFinished(async () => void (await fetch(address, { method: 'DELETE' })));
      const page = await visit('');
      await page.getByRole('link', { name: 'All', exact: true }).click();
      const notice = page.getByRole('alert');
      await notice.getByText('years, from 0001 to').waitFor();
      await page.waitForSelector(IDLE);
      const shown = () => page.locator('#totals, #charts, #list').filter({ visible: true }).count();
      expect(await shown()).toBe(0);
      await expectAccessible(page);
      await notice.getByRole('link', { name: 'Show 12 months' }).click();
      await page.waitForSelector('#list-title:has-text("Transactions (")');
      expect(await shown()).toBe(3);
      expect(await notice.textContent()).toBe('');
    });

    test('a failure is a sentence with its request, and another try helps', async () => {
      const page = await open();
      const body = JSON.stringify({
        success: false,
        error: 'internal_server_error',
        message: 'Oh',
      });
      const headers = { 'x-request-id': 'request-7' };
      await page.route('**/me', (route) => route.fulfill({ status: 500, headers, body }));
      await page.goto(url);
      const notice = page.getByRole('alert');
      await notice.getByText('The service answered 500: Oh (request request-7)').waitFor();
      await page.unroute('**/me');
      await notice.getByRole('button', { name: 'Try again' }).click();
      await page.waitForSelector('#list-title:has-text("Transactions (")');
      expect(await notice.textContent()).toBe('');
    });
  });

  test('a key is asked for, kept in the tab alone, and forgotten', async () => {
    const page = await open(asPhone);
    const answer = (status: number) => ({
      status,
      body: JSON.stringify({ success: false, error: 'unauthenticated', message: 'No' }),
    });
    await page.route(/\/(me|summary|categories|transactions)\b/, async (route) => {
      // The service of this test needs no key, and knows none.
      const { authorization, ...headers } = route.request().headers();
      if (authorization === 'Bearer fl_right') await route.continue({ headers });
      else await route.fulfill(answer(401));
    });
    await page.goto(url);
    const field = page.getByLabel('API key');
    await field.waitFor();
    await expectAccessible(page);
    await field.fill('fl_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is not valid').waitFor();
    await expectAccessible(page);
    await field.fill('fl_right');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.waitForSelector('#caller:has-text("default")');
    expect(page.url()).not.toContain('fl_');
    expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
    await page.getByRole('button', { name: 'Forget key' }).click();
    await field.waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});
