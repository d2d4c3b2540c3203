// The page with twenty thousand transactions: how many requests it sends, how much it draws, whether all its states are accessible,
// and hostile descriptions, which are shown as text.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { expectAccessible } from '../../shared/pages/opened-pages.ts';
import {
  AS_PHONE,
  findAddForm,
  findRow,
  openPages,
  waitForNextFrame,
  waitUntilIdle,
} from './opened-page.ts';
import { countCalls, traceLayouts } from './page-work.ts';

const HOSTILE_TEXT = `<img src=x onerror="document.title=1"> ${'W'.repeat(200)}`;
const TRANSACTIONS = 20_000;

interface BulkResults {
  readonly results: readonly { readonly status: number }[];
}

describe.skipIf(whyChromiumUnavailable())('the page with twenty thousand transactions', () => {
  const pages = openPages();

  /** Creates transactions over ten years, a thousand in each category, in requests of a hundred. */
  async function fillLedger(): Promise<void> {
    const thisYear = new Date().getFullYear();
    const ids: number[] = [];
    for (const name of [HOSTILE_TEXT, ...Array.from({ length: 19 }, (_, n) => `Category ${n}`)])
      ids.push(await pages.createCategory(name));
    const day = (n: number) =>
      new Date(Date.UTC(thisYear - (n % 10), n % 12, 1 + (n % 28))).toISOString().slice(0, 10);
    const row = (n: number) => ({
      description: n % 100 === 0 ? HOSTILE_TEXT : `Row ${n}`,
      amount: (n % 900) + 0.25,
      // Each category has both types.
      type: n % 3 === 0 ? 'income' : 'expense',
      category_id: ids[n % ids.length],
      transaction_date: day(n),
    });
    const requests = Array.from({ length: TRANSACTIONS / 100 }, (_, n) => ({
      headers: { 'idempotency-key': `rows ${n}` },
      transactions: Array.from({ length: 100 }, (_, m) => row(n * 100 + m)),
    }));
    const send = async () => {
      for (let request = requests.pop(); request; request = requests.pop()) {
        const { headers, transactions } = request;
        const response = await pages.post('/transactions/bulk', { transactions }, headers);
        const { results = [response] } = (response.data ?? {}) as Partial<BulkResults>;
        // On a slow machine the request or some of its rows are refused for lack of time. The whole request is sent again with its
        // key, because a refused row may have been created anyway.
        if (results.some(({ status }) => status >= 500)) requests.push(request);
        expect(results.filter(({ status }) => status < 500 && status !== 201)).toEqual([]);
      }
    };
    await Promise.all([send(), send(), send(), send()]);
  }
  beforeAll(fillLedger);

  const chips = (page: Page) => page.getByRole('navigation', { name: /^Categories/ });

  test.each(['', '#period=12m', '#period=all', `#q=row&period=${new Date().getFullYear()}`])(
    'the view "%s" sends at most five requests, and none while nothing changes',
    async (hash) => {
      const page = await pages.open();
      const urls: string[] = [];
      page.on('request', (request) => {
        if (request.resourceType() === 'fetch') urls.push(request.url());
      });
      await page.goto(`${pages.url()}/${hash}`);
      await waitUntilIdle(page);
      expect(new Set(urls).size).toBe(urls.length);
      expect(urls.length).toBeLessThanOrEqual(5);
      const requestCount = urls.length;
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.keyboard.press('Escape');
      expect(urls).toHaveLength(requestCount);
    },
  );

  /** Texts in the source of the functions that draw the list, a row, the chart, chips, figures, a form, and a date field. */
  const DRAWING_FUNCTIONS = [
    ...['Select all', '"data-id":', 'Figures of each period', 'Uncategorised', 'Totals'],
    ...['of-date', '0001-01-01'],
  ];

  /** Selects a row, and opens another row for editing. */
  async function openFields(page: Page) {
    await page.getByRole('checkbox', { name: 'Select', exact: true }).nth(1).check();
    await page.locator('.entry').first().click();
    const edit = page.getByRole('form', { name: /^Edit/ });
    await edit.waitFor();
    const fields = [findAddForm(page), edit].flatMap((form) =>
      ['Description', 'Amount', 'Category'].map((label) => form.getByLabel(label)),
    );
    return { edit, fields };
  }

  const entries = (page: Page) => page.locator('.entry');

  /** Scrolls, which draws the rows beyond the first screen. */
  async function drawAllRows(page: Page): Promise<void> {
    await page.mouse.wheel(0, 50);
    await entries(page).nth(99).waitFor();
  }

  test.each<[string, (page: Page) => Promise<unknown>]>([
    ['scrolls', (page) => page.mouse.wheel(0, 50)],
    ['enters the list', (page) => page.keyboard.press('ArrowDown')],
    ['searches with the browser', (page) => page.keyboard.press('Control+f')],
    ['enlarges the window', (page) => page.setViewportSize({ width: 1280, height: 4000 })],
  ])('rows beyond the first screen are drawn once the user %s', async (_, act) => {
    const page = await pages.visit('#period=all');
    await waitUntilIdle(page);
    const screen = page.viewportSize()?.height ?? 0;
    expect(await entries(page).count()).toBeLessThan(100);
    expect((await entries(page).last().boundingBox())?.y).toBeGreaterThan(screen);
    await act(page);
    await entries(page).nth(99).waitFor();
    expect(await entries(page).count()).toBe(100);
  });

  test('a reload draws all rows if the row that was edited is below the first screen', async () => {
    const page = await pages.visit('#period=all');
    await drawAllRows(page);
    await entries(page).nth(95).click();
    const edit = page.getByRole('form', { name: /^Edit/ });
    const name = await edit.getAttribute('aria-label');
    await edit.getByLabel('Notes').fill('Typed far below');
    await page.reload();
    await page.getByRole('form', { name: name ?? '', exact: true }).waitFor();
    expect(await edit.getByLabel('Notes').inputValue()).toBe('Typed far below');
    await edit.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a view draws each row once, and a key press in a field redraws none', async () => {
    const page = await pages.open();
    const script = await (await fetch(`${pages.url()}/page.js`)).text();
    const countDrawn = await countCalls(page, script);
    await page.goto(`${pages.url()}/#period=all`);
    await waitUntilIdle(page);
    const firstScreen = await countDrawn(DRAWING_FUNCTIONS);
    expect(firstScreen['"data-id":']).toBe(await entries(page).count());
    await drawAllRows(page);
    const otherRows = await countDrawn(DRAWING_FUNCTIONS);
    expect((firstScreen['"data-id":'] ?? 0) + (otherRows['"data-id":'] ?? 0)).toBe(100);
    const { fields } = await openFields(page);
    const opened = await countDrawn(DRAWING_FUNCTIONS);
    expect(opened).toMatchObject({ 'of-date': 1, '0001-01-01': 1 });
    // Few rows are drawn again: the selected row, the previous and the new tab stop, and the row that opens.
    expect(opened['"data-id":']).toBeLessThan(10);
    for (const field of [
      ...fields,
      page.getByRole('combobox', { name: 'Category for selected' }),
    ]) {
      await field.focus();
      await countDrawn(DRAWING_FUNCTIONS);
      await page.keyboard.press('1');
      expect(await field.inputValue()).toContain('1');
      const drawn = Object.entries(await countDrawn(DRAWING_FUNCTIONS));
      expect(drawn.filter(([, calls]) => calls > 0)).toEqual([]);
    }
  });

  test('a key press in a text field lays out only the field and its list', async () => {
    const page = await pages.visit('#period=all');
    const { edit, fields } = await openFields(page);
    for (const field of [...fields, edit.getByLabel('Notes')]) {
      await field.focus();
      // The focus changes more than the field, and the first letter in a category field opens the list of categories.
      await page.keyboard.press('1');
      await waitForNextFrame(page);
      const layouts = await traceLayouts(page, async () => {
        await page.keyboard.press('1');
        await waitForNextFrame(page);
      });
      expect(layouts.length).toBeGreaterThan(0);
      // The page has thousands of objects, but a key press lays out only a few.
      expect(Math.max(...layouts.map(({ totalObjects }) => totalObjects))).toBeLessThan(50);
    }
  });

  test('a letter typed in a category field is drawn first, and the list of categories one frame later', async () => {
    const page = await pages.visit('#period=all');
    const field = findAddForm(page).getByLabel('Category');
    await field.focus();
    await page.evaluate(`
      document.activeElement.addEventListener('input', ({ target }) =>
        requestAnimationFrame(() => { window.first = [target.value, target.ariaExpanded]; }), { once: true });
    `);
    await page.keyboard.press('7');
    await page.getByRole('option', { name: 'Category 17' }).waitFor();
    expect(await page.evaluate('window.first')).toEqual(['7', 'false']);
    // A key pressed before the list is drawn still acts on the list for the typed text.
    await page.keyboard.type('8');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Create “78”', selected: true }).waitFor();
  });

  test.each([
    ['on a desktop', {}],
    ['on a phone', AS_PHONE],
  ])('a search result that arrives late moves nothing %s', async (_, options) => {
    const page = await pages.visit(`#period=${new Date().getFullYear()}`, options);
    await page.evaluate(`
      window.shifts = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) window.shifts += value;
      }).observe({ type: 'layout-shift' });
    `);
    const field = page.getByRole('searchbox');
    const allChip = page.locator('.chips a').first();
    for (const [text, label] of [
      ['row', /All \(1,800\)/],
      ['row 1999', /All \(1\)/],
      ['no such row', /All \(0\)/],
    ] as const) {
      await field.fill(text);
      await allChip.filter({ hasText: label }).waitFor();
      await waitForNextFrame(page);
    }
    expect(await page.evaluate('window.shifts')).toBeLessThanOrEqual(0.05);
  });

  test.each([
    ['in the light scheme', {}],
    ['in the dark scheme', { colorScheme: 'dark' }],
    ['on a phone', AS_PHONE],
    ['on a phone in the dark scheme', { ...AS_PHONE, colorScheme: 'dark' }],
  ] as const)('all categories and the table of figures are accessible, %s', async (_, options) => {
    const page = await pages.visit('#period=all&category=2&page=2', options);
    await page.evaluate(
      `for (const each of document.querySelectorAll('details')) each.open = true`,
    );
    await page.getByRole('region', { name: 'Figures by period' }).waitFor();
    await page.getByRole('button', { name: 'All 20' }).click();
    await expectAccessible(page);
  });

  test('a hostile description is shown as text', async () => {
    const page = await pages.visit('#period=all', AS_PHONE);
    await chips(page).getByRole('link', { name: '<img src=x' }).click();
    await findRow(page, '<img src=x').first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('Finance ledger');
    await expectAccessible(page);
  });

  test('category, page and period are in the address, and follow a reload and Back', async () => {
    const page = await pages.visit('#period=all');
    await chips(page).getByRole('link', { name: 'Category 3 (' }).click();
    await page.waitForSelector('.chips [aria-current]:has-text("Category 3")');
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForSelector('.pages [aria-current=page]:text-is("2")');
    expect(page.url()).toMatch(/#period=all&category=\d+&page=2$/);
    await page.reload();
    await page.waitForSelector('.pages [aria-current=page]:text-is("2")');
    await page.goBack();
    await page.goBack();
    await page.waitForSelector('.chips [aria-current]:has-text("All (20,000)")');
  });

  test('a search of all years shows every row that it finds', async () => {
    const page = await pages.visit('#period=all');
    await page.getByRole('searchbox').fill('row 1999');
    // The search finds row 1999, row 11999, and rows 19990 to 19999.
    await page.waitForSelector('.chips [aria-current]:has-text("All (12)")');
    expect(await page.locator('.entry').count()).toBe(12);
  });

  const [thisYear, lastYear] = [0, 1].map((ago) => String(new Date().getFullYear() - ago));
  const isDecember = new Date().getMonth() === 11;
  test.each([
    ['#period=12m', isDecember ? [thisYear] : [lastYear, thisYear]],
    [`#period=${lastYear}`, [lastYear]],
    ['#period=all', []],
  ])(
    'nothing is cut off on a phone, and each year is shown once: "%s"',
    async (hash, shownYears) => {
      const page = await pages.visit(hash, AS_PHONE);
      await page.locator('.charts > summary').click();
      await page.waitForSelector('.chart svg');
      const ticks = await page.evaluate(`(() => {
      const { left, right } = document.querySelector('.chart svg').getBoundingClientRect();
      return [...document.querySelectorAll('.tick')]
        .filter((tick) => tick.getBoundingClientRect().left < left || tick.getBoundingClientRect().right > right)
        .map(({ textContent }) => textContent);
    })()`);
      expect(ticks).toEqual([]);
      expect(await page.locator('.tick.year').allTextContents()).toEqual(shownYears);
    },
  );

  test('the arrow keys show the same tooltip for a bar as the mouse', async () => {
    const page = await pages.visit('#period=12m');
    await page.locator('.period').first().focus();
    await page.keyboard.press('ArrowRight');
    const tooltipByKey = await page.locator('#tooltip').textContent();
    await page.keyboard.press('Escape');
    await page.locator('#tooltip').waitFor({ state: 'detached' });
    // The browser sends this event also when the page moves below a resting pointer.
    await page.locator('.period').nth(1).dispatchEvent('pointerover');
    await waitForNextFrame(page);
    expect(await page.locator('#tooltip').count()).toBe(0);
    await page.locator('.period').nth(1).hover();
    expect(await page.locator('#tooltip').textContent()).toBe(tooltipByKey);
    expect(tooltipByKey).toContain('Income');
  });

  test('a selection survives paging, and is cleared when another category is shown', async () => {
    const page = await pages.visit('#period=all&page=2');
    const bar = page.getByRole('region', { name: 'Selected transactions' });
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForSelector('.pages [aria-current=page]:text-is("3")');
    await bar.getByText('100 selected').waitFor();
    await chips(page).getByRole('link', { name: 'Category 3 (' }).click();
    await page.waitForSelector('.chips [aria-current]:has-text("Category 3")');
    await waitUntilIdle(page);
    expect(await bar.count()).toBe(0);
  });

  test('the link to the next page keeps the focus', async () => {
    const page = await pages.visit('#period=all');
    await page.getByRole('link', { name: 'Next page' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.pages [aria-current=page]:text-is("2")');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Next page');
  });

  test('if a ledger has more years than a summary allows, All dates shows no figures of another period', async () => {
    const id = await pages.createRow({ description: 'Oldest', transaction_date: '0001-01-01' });
    onTestFinished(async () => void (await pages.call('DELETE', `/transactions/${id}`)));
    const page = await pages.visit();
    await page.getByRole('combobox', { name: 'Period' }).selectOption('all');
    const notice = page.getByRole('alert');
    await notice.getByText('years, from 0001 to').waitFor();
    await waitUntilIdle(page);
    const totals = page.getByRole('region', { name: 'Totals' }).filter({ visible: true });
    expect(await totals.count()).toBe(0);
    await expectAccessible(page);
    await notice.getByRole('link', { name: 'Show 12 months' }).click();
    await totals.waitFor();
    expect(await notice.textContent()).toBe('');
  });
});
