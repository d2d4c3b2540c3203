// The page as a person uses it to keep a ledger: adding, correcting, deleting, categorising and looking at months, by mouse and by
// keyboard, without a connection, and with a read-only key. Axe finds no accessibility error in any state of the page.
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { expectAccessible } from '../../shared/pages/opened-pages.ts';
import {
  AS_PHONE,
  expectAccessibleInBothSchemes,
  findAddForm,
  findRow,
  openPages,
  stopTime,
  waitUntilIdle,
} from './opened-page.ts';

async function findBox(element: Locator) {
  const box = await element.boundingBox();
  if (!box) throw new Error('The element is not drawn');
  return { ...box, right: box.x + box.width };
}

const SCHEMES = ['light', 'dark'] as const;

describe.skipIf(whyChromiumUnavailable())('the page', () => {
  const pages = openPages();

  test('the first ten rows of an empty ledger are added by keyboard alone', async () => {
    const page = await pages.visit();
    await page.getByText('Add the first above').waitFor();
    await expectAccessibleInBothSchemes(page);
    await page.keyboard.press('n');
    for (const [description, amount] of [
      ['First lunch', '12.50'],
      ['First bus', '3,20'],
      ...Array.from({ length: 8 }, (_, n) => [`First of ${n}`, '1'] as const),
    ] as const) {
      await page.keyboard.type(description);
      await page.keyboard.press('Tab');
      await page.keyboard.type(amount);
      await page.keyboard.press('Enter');
    }
    await findRow(page, 'First bus').getByText('-3.20').waitFor();
    await findRow(page, 'First lunch').getByText('-12.50').waitFor();
    await expect.poll(async () => (await pages.readRows('First')).length).toBe(10);
    expect(await page.getByRole('region', { name: 'Totals' }).textContent()).toContain('23.70');
  });

  test('a request whose response is lost is retried, and the row is created once', async () => {
    const page = await pages.visit();
    const keys: (string | undefined)[] = [];
    const noticeShown = Promise.withResolvers<void>();
    await page.route('**/transactions', async (route) => {
      if (route.request().method() !== 'POST') return await route.fallback();
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) {
        await noticeShown.promise;
        return await route.fallback();
      }
      await route.fetch();
      await route.abort();
    });
    await findAddForm(page).getByLabel('Description').fill('Lost answer');
    await findAddForm(page).getByLabel('Amount').fill('1');
    await findAddForm(page).getByRole('button', { name: 'Add' }).click();
    await findRow(page, 'Lost answer').waitFor();
    await page.getByText('the service does not answer').waitFor();
    await expectAccessible(page);
    noticeShown.resolve();
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    // On a busy machine the page may retry the request more than once.
    expect(keys.length).toBeGreaterThan(1);
    expect([...new Set(keys)]).toEqual([expect.stringMatching(/./)]);
    expect(await pages.readRows('Lost answer')).toHaveLength(1);
    expect(await findRow(page, 'Lost answer').count()).toBe(1);
  });

  test('a reload in the middle of a save neither loses nor duplicates a row', async () => {
    const page = await pages.visit();
    const events: string[] = [];
    await page.route('**/*', async (route) => {
      const request = route.request();
      const isReloaded = events.includes('reload');
      events.push(request.isNavigationRequest() ? 'reload' : request.method());
      if (isReloaded || request.method() !== 'POST') return await route.fallback();
      await route.fetch();
      await route.abort();
    });
    await findAddForm(page).getByLabel('Description').fill('Cut off');
    await findAddForm(page).getByLabel('Amount').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('the service does not answer').waitFor();
    events.length = 0;
    const listRead = page.waitForRequest(/\/transactions\?/);
    await page.reload();
    await listRead;
    // The page must retry the write before it reads the list: the list already has the row, so the page would show the row twice
    // until the write has a response.
    expect(events.slice(events.indexOf('reload'))).toContain('POST');
    await findRow(page, 'Cut off').waitFor();
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    expect(await pages.readRows('Cut off')).toHaveLength(1);
  });

  test('a row that was added offline is sent once, after its tab is closed, and by no other tab before', async () => {
    const page = await pages.visit();
    const secondTab = await page.context().newPage();
    await secondTab.goto(pages.url());
    await waitUntilIdle(secondTab);
    await page.route('**/transactions', (route) => route.abort());
    await findAddForm(page).getByLabel('Description').fill('Kept for later');
    await findAddForm(page).getByLabel('Amount').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('the service does not answer').waitFor();
    await secondTab.reload();
    await waitUntilIdle(secondTab);
    expect(await pages.readRows('Kept for later')).toEqual([]);
    await page.close();
    await secondTab.reload();
    await findRow(secondTab, 'Kept for later').waitFor();
    await secondTab.waitForSelector('.state:text-is("")', { state: 'attached' });
    expect(await pages.readRows('Kept for later')).toHaveLength(1);
    expect(await secondTab.evaluate('Object.keys(localStorage)')).toEqual([]);
  });

  test('a refused row is removed, shows the reason, and can be corrected', async () => {
    const page = await pages.visit();
    await findAddForm(page).getByLabel('Description').fill('Too exact');
    await findAddForm(page).getByLabel('Amount').fill('1.2345');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('“Too exact” was not saved').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/decimal.*\(request .+\)/);
    expect(await findRow(page, 'Too exact').count()).toBe(0);
    expect(await findAddForm(page).getByLabel('Description').inputValue()).toBe('Too exact');
    await expectAccessibleInBothSchemes(page);
  });

  test.each([
    ['a screen', {}],
    ['a phone', AS_PHONE],
  ])(
    'a row outside the period shown is announced with a button that shows it, on %s',
    async (_, options) => {
      const page = await pages.visit('#period=1998-05&q=other', options);
      await stopTime(page);
      if (options === AS_PHONE)
        await page.getByRole('button', { name: 'Add a transaction' }).click();
      await findAddForm(page).getByLabel('Date').fill('1998-12-15');
      await findAddForm(page).getByLabel('Description').fill('Geschenk');
      await findAddForm(page).getByLabel('Amount').fill('20');
      await page.keyboard.press('Enter');
      const notice = page.getByRole('alert').getByText(/^Added Geschenk on 15 Dec 1998, outside/);
      await notice.waitFor();
      expect(await notice.textContent()).toBe(
        'Added Geschenk on 15 Dec 1998, outside the period shown',
      );
      await expectAccessibleInBothSchemes(page);
      await page.getByRole('alert').getByRole('button', { name: 'Show' }).click();
      await page.getByRole('heading', { name: 'December 1998' }).waitFor();
      await findRow(page, 'Geschenk').getByText('-20.00').first().waitFor();
      expect(await page.getByRole('alert').getByRole('button').count()).toBe(0);
      expect(await page.getByRole('dialog').count()).toBe(0);
    },
  );

  test('a row hidden by a filter is announced with a button that shows it', async () => {
    const page = await pages.visit('#period=1998-03&type=income');
    await findAddForm(page).getByLabel('Date').fill('1998-03-15');
    await findAddForm(page).getByLabel('Description').fill('Hidden by its type');
    await findAddForm(page).getByLabel('Amount').fill('20');
    await page.keyboard.press('Enter');
    const notice = page.getByRole('alert');
    await notice.getByText('15 Mar 1998, hidden by the filter').waitFor();
    await notice.getByRole('button', { name: 'Show' }).click();
    await findRow(page, 'Hidden by its type').getByText('-20.00').first().waitFor();
  });

  test('a notice that only confirms an action disappears, but not while it has the pointer or the focus', async () => {
    const page = await pages.visit('#period=1998-04');
    await page.clock.install();
    const alert = page.getByRole('alert');
    const show = alert.getByRole('button', { name: 'Show' });
    const add = async (description: string) => {
      await findAddForm(page).getByLabel('Date').fill('1998-11-15');
      await findAddForm(page).getByLabel('Description').fill(description);
      await findAddForm(page).getByLabel('Amount').fill('20');
      await page.keyboard.press('Enter');
      await alert.getByText(`Added ${description} on 15 Nov`).waitFor();
    };
    await add('Read later');
    // From here on only the test moves the clock.
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 1000);
    await show.focus();
    await page.clock.runFor(30_000);
    expect(await show.count()).toBe(1);
    await findAddForm(page).getByLabel('Description').focus();
    await page.clock.runFor(9000);
    expect(await show.count()).toBe(1);
    await alert.getByText('Added').hover();
    await page.clock.runFor(30_000);
    expect(await show.count()).toBe(1);
    await page.mouse.move(0, 600);
    await page.clock.runFor(10_000);
    await expect.poll(() => show.count()).toBe(0);
  });

  test('a draft survives a reload', async () => {
    const page = await pages.visit();
    await findAddForm(page).getByLabel('Description').fill('Half a thought');
    await page.reload();
    await waitUntilIdle(page);
    expect(await findAddForm(page).getByLabel('Description').inputValue()).toBe('Half a thought');
  });

  test('Escape moves the focus out of the form that adds a transaction, and keeps the draft', async () => {
    await pages.createRow({ description: 'Left for the form', transaction_date: '2003-02-01' });
    const page = await pages.visit('#period=2003-02');
    const description = findAddForm(page).getByLabel('Description');
    await description.click();
    await page.keyboard.press('Enter');
    await findAddForm(page).getByText('Say what it was.').waitFor();
    await page.keyboard.press('Escape');
    await findAddForm(page).getByText('Say what it was.').waitFor({ state: 'detached' });
    // Without a focused field, the arrow keys move through the list.
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.entry:focus');
    await page.keyboard.press('n');
    await page.waitForSelector('.of-description input:focus');
    await page.keyboard.type('Half');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.entry:focus');
    expect(await description.inputValue()).toBe('Half');
    // While the list of categories is open, Escape closes only the list.
    await findAddForm(page).getByLabel('Category').click();
    await page.keyboard.type('new');
    const option = page.getByRole('option', { name: 'Create “new”' });
    await option.waitFor();
    await page.keyboard.press('Escape');
    await option.waitFor({ state: 'detached' });
    await page.waitForSelector('.of-category input:focus');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.entry:focus');
  });

  test('the errors of an empty form disappear when the user acts elsewhere, but not those of a draft', async () => {
    await pages.createRow({ description: 'Elsewhere', transaction_date: '2003-01-02' });
    const page = await pages.visit('#period=2003');
    const invalid = findAddForm(page).locator('[aria-invalid]');
    const add = findAddForm(page).getByRole('button', { name: 'Add' });
    for (const leave of [
      () => page.getByRole('checkbox', { name: 'Select all' }).click(),
      () => page.getByRole('searchbox').press('Shift'),
    ]) {
      await add.click();
      await expect.poll(() => invalid.count()).toBe(2);
      await findAddForm(page).getByLabel('Type').press('Shift');
      expect(await invalid.count()).toBe(2);
      await leave();
      await expect.poll(() => invalid.count()).toBe(0);
    }
    await findAddForm(page).getByLabel('Description').fill('No amount');
    await add.click();
    await expect.poll(() => invalid.count()).toBe(1);
    await page.getByRole('searchbox').press('Shift');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await waitUntilIdle(page);
    expect(await invalid.count()).toBe(1);
  });

  test('a period without rows shows text instead of charts', async () => {
    const page = await pages.visit('#period=1999');
    await page.getByText('Nothing in this period yet.').waitFor();
    await page.getByText('No expense in this period yet.').waitFor();
    expect(await page.locator('.chart svg').count()).toBe(0);
    await expectAccessible(page);
  });

  test('a month is compared with the previous month, unless that is empty', async () => {
    for (const day of ['1992-03-02', '1992-05-02', '1992-06-02'])
      await pages.createRow({ description: 'Compared', amount: 8, transaction_date: day });
    const page = await pages.visit('#period=1992-06');
    const differences = page.locator('.figure small');
    const comparedMonth = page.locator('.figures .compared');
    const legendOfMay = page.locator('.legend').getByText('May 1992');
    expect(await differences.allTextContents()).toEqual(['0.00', '0.00 (0%)', '0.00']);
    expect(await comparedMonth.textContent()).toBe('Compared with May 1992');
    expect(await legendOfMay.count()).toBe(1);
    await page.goto(`${pages.url()}/#period=1992-05`);
    await findRow(page, /2 May/).waitFor();
    expect((await differences.allTextContents()).join('').trim()).toBe('');
    expect(await comparedMonth.textContent()).toBe('');
    expect(await page.locator('.legend .line').count()).toBe(0);
  });

  test('on a phone the comparison is shown with the charts', async () => {
    await pages.createRow({ amount: 10, transaction_date: '1989-03-02' });
    await pages.createRow({ amount: 12, transaction_date: '1989-04-02' });
    const viewport = { width: 320, height: 640 };
    const page = await pages.visit('#period=1989-04', { viewport });
    const changes = page.locator('.changes');
    expect(await changes.isVisible()).toBe(false);
    await page.getByText('Charts and comparison').click();
    await changes.getByText('Compared with March 1989').waitFor();
    await changes.getByText('Expense +2.00 (+20%)').waitFor();
    // The heading of the chart has its own line, and the legend the next one.
    const heading = await findBox(page.getByRole('heading', { name: 'Total spent up to' }));
    const legend = await findBox(page.locator('.legend'));
    expect(heading.height).toBeLessThan(30);
    expect(legend.y).toBeGreaterThanOrEqual(heading.y + heading.height);
    expect(legend.right).toBeLessThanOrEqual(viewport.width);
    await expectAccessible(page);
  });

  test('a month is compared in percent only if the earlier amount is not tiny', async () => {
    await pages.createRow({ amount: 0.2, transaction_date: '1990-03-02' });
    await pages.createRow({ amount: 20.44, transaction_date: '1990-04-02' });
    const page = await pages.visit('#period=1990-04');
    expect(await page.locator('.figure.expense small').textContent()).toBe('+20.24');
    await page.getByRole('heading', { name: 'Total spent up to each day' }).waitFor();
    await pages.createRow({ amount: 1.8, transaction_date: '1990-03-03' });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('+18.44 (+922%)').waitFor();
  });

  test('the category of a similar description is suggested', async () => {
    const category_id = await pages.createCategory('Suggested');
    await pages.createRow({ description: 'Weekly market', category_id });
    const page = await pages.visit();
    await findAddForm(page).getByLabel('Description').fill('weekly market 22');
    const suggestion = page.locator('.add-row [placeholder="Suggested"]');
    await suggestion.waitFor();
    // The suggested category is for expenses, so it disappears for income.
    await findAddForm(page).getByLabel('Type').selectOption('income');
    await suggestion.waitFor({ state: 'detached' });
    await findAddForm(page).getByLabel('Type').selectOption('expense');
    await suggestion.waitFor();
    await findAddForm(page).getByLabel('Amount').fill('9');
    await page.keyboard.press('Enter');
    await findRow(page, 'weekly market 22')
      .getByText('Suggested')
      .filter({ visible: true })
      .waitFor();
  });

  test('a new category is created even if the name of another category begins with the same letters', async () => {
    await pages.createCategory('Transportation');
    await pages.createRow({ description: 'Taken by train', transaction_date: '2011-04-02' });
    const page = await pages.visit('#period=2011-04');
    await findAddForm(page).getByLabel('Date').fill('2011-04-02');
    await findAddForm(page).getByLabel('Description').fill('Tram');
    await findAddForm(page).getByLabel('Amount').fill('3');
    await findAddForm(page).getByLabel('Category').fill('Trans');
    await page.getByRole('option', { name: 'Create “Trans”' }).click();
    await findAddForm(page).getByRole('button', { name: 'Add' }).click();
    await expect.poll(() => pages.readRows('Tram')).toMatchObject([{ category_name: 'Trans' }]);
    const field = findRow(page, 'Taken by train').getByRole('combobox', { name: 'Category' });
    await field.fill('Transpo');
    await page.getByRole('option', { name: 'Create “Transpo”' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => pages.readRows('Taken by train'))
      .toMatchObject([{ category_name: 'Transpo' }]);
  });

  test('a partly typed category is completed when the field loses the focus or Enter saves the row', async () => {
    const category_id = await pages.createCategory('Workshop');
    const page = await pages.visit();
    await findAddForm(page).getByLabel('Description').fill('Saved by mouse');
    await findAddForm(page).getByLabel('Amount').fill('3');
    await findAddForm(page).getByLabel('Category').fill('works');
    await findAddForm(page).getByLabel('Amount').click();
    expect(await findAddForm(page).getByLabel('Category').inputValue()).toBe('Workshop');
    await findAddForm(page).getByRole('button', { name: 'Add' }).click();
    await expect.poll(() => pages.readRows('Saved by mouse')).toMatchObject([{ category_id }]);
    await findAddForm(page).getByLabel('Description').fill('Saved by keyboard');
    await findAddForm(page).getByLabel('Amount').fill('4');
    await findAddForm(page).getByLabel('Category').fill('works');
    await page.keyboard.press('Enter');
    await expect.poll(() => pages.readRows('Saved by keyboard')).toMatchObject([{ category_id }]);
  });

  test('the type is Expense again for the next transaction', async () => {
    const page = await pages.visit();
    await findAddForm(page).getByLabel('Description').fill('Wages of the month');
    await findAddForm(page).getByLabel('Amount').fill('2000');
    await findAddForm(page).getByLabel('Type').selectOption('income');
    await findAddForm(page).getByRole('button', { name: 'Add' }).click();
    await findRow(page, 'Wages of the month').waitFor();
    expect(await findAddForm(page).getByLabel('Type').inputValue()).toBe('expense');
    await page.reload();
    await waitUntilIdle(page);
    expect(await findAddForm(page).getByLabel('Type').inputValue()).toBe('expense');
  });

  test('keys typed while a category is being created go to the next row', async () => {
    await pages.createCategory('Bus');
    for (const description of ['Waits for its category', 'Typed meanwhile'])
      await pages.createRow({ description, transaction_date: '2011-05-02' });
    const page = await pages.visit('#period=2011-05&category=none');
    const isTyped = Promise.withResolvers<void>();
    await page.route('**/categories', async (route) => {
      if (route.request().method() === 'POST') await isTyped.promise;
      await route.fallback();
    });
    const firstEntry = page.locator('.entry').first();
    const firstRow = ((await firstEntry.textContent()) ?? '').includes('Waits') ? 'Waits' : 'Typed';
    await firstEntry.getByRole('combobox', { name: 'Category' }).fill('Ferry');
    await page.keyboard.press('Enter');
    await page.keyboard.type('bus');
    isTyped.resolve();
    await expect.poll(() => pages.readRows(firstRow)).toMatchObject([{ category_name: 'Ferry' }]);
    await page.keyboard.press('Enter');
    const secondRow = firstRow === 'Waits' ? 'Typed meanwhile' : 'Waits for its category';
    await expect.poll(() => pages.readRows(secondRow)).toMatchObject([{ category_name: 'Bus' }]);
  });

  test.each(SCHEMES)(
    'a row is opened with Enter and corrected in place, in the %s color scheme',
    async (colorScheme) => {
      const description = `Misspelt ${colorScheme}`;
      const id = await pages.createRow({ description });
      const page = await pages.visit('', { colorScheme });
      const versions: (string | undefined)[] = [];
      page.on('request', (request) => {
        if (request.method() === 'PUT') versions.push(request.headers()['if-match']);
      });
      await findRow(page, description).focus();
      await page.keyboard.press('Enter');
      const row = findRow(page, description);
      await expectAccessible(page);
      await row.getByLabel('Description').fill('Put right');
      await row.getByLabel('Category').fill(`New ${colorScheme}`);
      await page.keyboard.press('Enter');
      await findRow(page, 'Put right').first().waitFor();
      await expect.poll(async () => (await pages.readRows(description)).length).toBe(0);
      const { data } = await pages.call('GET', `/transactions/${id}`);
      expect(data).toMatchObject({ description: 'Put right', category_name: `New ${colorScheme}` });
      expect(versions).toEqual([expect.stringMatching(/^"t\d+\.1\./)]);
      await pages.call('DELETE', `/transactions/${id}`);
    },
  );

  test('Cancel leaves the row unchanged', async () => {
    await pages.createRow({ description: 'As it was' });
    const page = await pages.visit();
    const row = findRow(page, 'As it was');
    await row.click();
    await row.getByLabel('Amount').fill('77');
    await row.getByRole('button', { name: 'Cancel' }).click();
    await row.getByText('-1.00').waitFor();
  });

  test.each([
    ['Keep mine', 20],
    ['Keep theirs', 99],
  ])(
    'two tabs edit the same row: both versions are shown, and "%s" keeps one',
    async (choice, amount) => {
      const description = `Contested ${choice}`;
      const id = await pages.createRow({ description });
      const [mine, theirs] = [await pages.visit(), await pages.visit()];
      await findRow(mine, description).click();
      await findRow(mine, description).getByLabel('Amount').fill('20');
      await findRow(theirs, description).click();
      await findRow(theirs, description).getByLabel('Amount').fill('99');
      await findRow(theirs, description).getByRole('button', { name: 'Save' }).click();
      await findRow(theirs, description).getByText('-99.00').waitFor();
      await findRow(mine, description).getByRole('button', { name: 'Save' }).click();
      const conflict = mine.getByRole('region', { name: `Conflict: ${description}` });
      await conflict.getByRole('cell', { name: '20.00' }).waitFor();
      await conflict.getByRole('cell', { name: '99.00' }).waitFor();
      await expectAccessibleInBothSchemes(mine);
      await conflict.getByRole('button', { name: choice }).click();
      await findRow(mine, description).getByText(`-${amount}.00`).waitFor();
      await expect
        .poll(async () => (await pages.call('GET', `/transactions/${id}`)).data)
        .toMatchObject({ amount });
    },
  );

  test('on a small phone the fields of a conflict do not break words', async () => {
    const description = 'Contested with many words on a small screen';
    const id = await pages.createRow({ description, transaction_date: '1993-01-02' });
    const page = await pages.visit('#period=1993', { viewport: { width: 320, height: 568 } });
    await findRow(page, description).click();
    await pages.call('PUT', `/transactions/${id}`, { description: `${description}, and more` });
    await findRow(page, description).getByLabel('Description').fill(`${description}, by me`);
    await findRow(page, description).getByRole('button', { name: 'Save' }).click();
    const heading = page.getByRole('rowheader', { name: 'Description' });
    const lines = await heading.evaluate((cell) => {
      const range = cell.ownerDocument.createRange();
      range.selectNodeContents(cell);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
    await expectAccessible(page);
  });

  test('a change by another tab is a conflict, even after the list and a reload have shown it', async () => {
    const id = await pages.createRow({
      description: 'Seen meanwhile',
      transaction_date: '1996-01-02',
    });
    const page = await pages.visit('#period=1996');
    const edit = page.getByRole('form', { name: /^Edit/ });
    await findRow(page, 'Seen meanwhile').click();
    await edit.getByLabel('Notes').fill('My note');
    await pages.call('PUT', `/transactions/${id}`, { amount: 99 });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('region', { name: 'Totals' }).getByText('99.00').first().waitFor();
    await page.reload();
    await edit.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('region', { name: 'Conflict: Seen meanwhile' });
    await conflict.getByRole('cell', { name: '99.00' }).waitFor();
    await conflict.getByRole('cell', { name: 'My note' }).waitFor();
    expect(await pages.readRows('Seen meanwhile')).toMatchObject([{ amount: 99, notes: null }]);
  });

  test('a change by the page itself is not a conflict for an open editor', async () => {
    const category_id = await pages.createCategory('Meanwhile');
    await pages.createRow({ description: 'Twice written', transaction_date: '1995-01-02' });
    const page = await pages.visit('#period=1995');
    await findRow(page, 'Twice written').getByRole('checkbox').check();
    await findRow(page, 'Twice written').click();
    const edit = page.getByRole('form', { name: /^Edit/ });
    await edit.getByLabel('Notes').fill('Kept');
    await page.getByRole('combobox', { name: 'Category for selected' }).fill('Meanwhile');
    await page.getByRole('button', { name: 'Apply' }).click();
    const readStored = async () => await pages.readRows('Twice written');
    await expect.poll(readStored).toMatchObject([{ category_id, notes: null }]);
    await edit.getByRole('button', { name: 'Save' }).click();
    await expect.poll(readStored).toMatchObject([{ category_id, notes: 'Kept' }]);
    expect(await page.getByText('changed elsewhere').count()).toBe(0);
  });

  test('each edited row keeps its own draft', async () => {
    for (const description of ['Draft one', 'Draft two'])
      await pages.createRow({ description, transaction_date: '1994-01-02' });
    const page = await pages.visit('#period=1994');
    const edit = page.getByRole('form', { name: /^Edit/ });
    for (const description of ['Draft one', 'Draft two']) {
      await findRow(page, description).click();
      await edit.getByLabel('Notes').fill(`Note of ${description}`);
    }
    await page.reload();
    await page.getByRole('form', { name: 'Edit Draft two' }).waitFor();
    expect(await edit.getByLabel('Notes').inputValue()).toBe('Note of Draft two');
    await edit.getByRole('button', { name: 'Cancel' }).click();
    await findRow(page, 'Draft one').click();
    expect(await edit.getByLabel('Notes').inputValue()).toBe('Note of Draft one');
  });

  test('a row that is added offline stays selected and open when it gets its id', async () => {
    const category_id = await pages.createCategory('Got its id');
    const page = await pages.visit();
    await page.context().setOffline(true);
    await findAddForm(page).getByLabel('Description').fill('Added offline');
    await findAddForm(page).getByLabel('Amount').fill('1');
    await page.keyboard.press('Enter');
    await findRow(page, 'Added offline').getByRole('checkbox').check();
    await findRow(page, 'Added offline').click();
    const edit = page.getByRole('form', { name: /^Edit/ });
    await edit.getByLabel('Notes').fill('Typed meanwhile');
    await page.context().setOffline(false);
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    const readStored = async () => await pages.readRows('Added offline');
    await expect.poll(async () => (await readStored()).length).toBe(1);
    await waitUntilIdle(page);
    expect(await edit.getByLabel('Notes').inputValue()).toBe('Typed meanwhile');
    await page.getByRole('combobox', { name: 'Category for selected' }).fill('Got its id');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(readStored).toMatchObject([{ category_id }]);
    // The draft moved to the row's final id.
    await page.reload();
    await edit.getByRole('button', { name: 'Save' }).click();
    await expect.poll(readStored).toMatchObject([{ category_id, notes: 'Typed meanwhile' }]);
    expect(await page.getByText('elsewhere').count()).toBe(0);
  });

  test.each(['its own view', 'another view'])(
    'an edit of a row that gets its id while %s is shown survives a reload',
    async (view) => {
      const description = `Edited in ${view}`;
      const page = await pages.visit();
      let isResponding = false;
      await page.route('**/transactions', async (route) => {
        if (isResponding || route.request().method() !== 'POST') return await route.fallback();
        await route.abort();
      });
      await findAddForm(page).getByLabel('Description').fill(description);
      await findAddForm(page).getByLabel('Amount').fill('1');
      await page.keyboard.press('Enter');
      await page.getByText('the service does not answer').waitFor();
      await findRow(page, description).click();
      const edit = page.getByRole('form', { name: /^Edit/ });
      await edit.getByLabel('Notes').fill('Typed early');
      const readStored = async () => await pages.readRows(description);
      if (view === 'another view') {
        await page.getByRole('button', { name: 'Previous month' }).click();
        await edit.waitFor({ state: 'detached' });
        isResponding = true;
        await page.evaluate(`dispatchEvent(new Event('online'))`);
        await expect.poll(readStored).toHaveLength(1);
        await page.reload();
        await page.getByRole('button', { name: 'Next month' }).click();
        await edit.waitFor();
      }
      isResponding = true;
      for (let reload = 1; reload <= 2; reload += 1) {
        await page.reload();
        await edit.waitFor();
        expect(await edit.getByLabel('Notes').inputValue()).toBe('Typed early');
      }
      await edit.getByRole('button', { name: 'Save' }).click();
      await expect.poll(readStored).toMatchObject([{ notes: 'Typed early' }]);
    },
  );

  test('an update whose response was lost is not a conflict', async () => {
    const id = await pages.createRow({ description: 'Answer lost' });
    const page = await pages.visit();
    let attempts = 0;
    await page.route(`**/transactions/${id}`, async (route) => {
      if (route.request().method() !== 'PUT') return await route.fallback();
      attempts += 1;
      if (attempts > 1) return await route.fallback();
      await route.fetch();
      await route.abort();
    });
    await findRow(page, 'Answer lost').click();
    await findRow(page, 'Answer lost').getByLabel('Amount').fill('5');
    await page.keyboard.press('Enter');
    await expect.poll(() => attempts).toBe(2);
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    expect(await page.getByText('changed elsewhere').count()).toBe(0);
    await findRow(page, 'Answer lost').getByText('-5.00').waitFor();
  });

  test('a deletion can be undone: the row keeps its id', async () => {
    const id = await pages.createRow({ description: 'Not so fast' });
    const page = await pages.visit();
    await stopTime(page);
    await findRow(page, 'Not so fast').getByRole('button', { name: 'Delete' }).click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    expect(await findRow(page, 'Not so fast').count()).toBe(0);
    await expectAccessible(page);
    const announcement = page.locator('.unseen[role=status]');
    expect(await announcement.textContent()).toBe('Deleted Not so fast');
    await undo.click();
    await findRow(page, 'Not so fast').waitFor();
    expect(await announcement.textContent()).toBe('Restored Not so fast');
    expect((await pages.readRows('Not so fast')).map((row) => row.id)).toEqual([id]);
  });

  test('the second click of a double click neither deletes the next row nor adds an empty one', async () => {
    for (const description of ['Double first', 'Double second', 'Double third'])
      await pages.createRow({ description, transaction_date: '1997-01-02' });
    const page = await pages.visit('#period=1997');
    await stopTime(page);
    await findRow(page, 'Double third').getByRole('button', { name: 'Delete' }).dblclick();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await findRow(page, /Double/).count()).toBe(2);
    await findRow(page, 'Double second').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => findRow(page, /Double/).count()).toBe(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await findAddForm(page).getByLabel('Date').fill('1997-01-03');
    await findAddForm(page).getByLabel('Description').fill('Double added');
    await findAddForm(page).getByLabel('Amount').fill('2');
    await findAddForm(page).getByRole('button', { name: 'Add' }).dblclick();
    await findRow(page, 'Double added').waitFor();
    expect(await findAddForm(page).locator('[aria-invalid]').count()).toBe(0);
    await expect.poll(async () => (await pages.readRows('Double added')).length).toBe(1);
  });

  test.each([
    ['a screen', {}],
    ['a phone', AS_PHONE],
  ])('Undo does not cover the first rows on %s', async (_, options) => {
    for (const description of ['Covered', 'To delete'])
      await pages.createRow({ description, transaction_date: '2004-01-02' });
    const page = await pages.visit('#period=2004', options);
    await stopTime(page);
    await findRow(page, 'To delete').first().getByRole('button', { name: 'Delete' }).click();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    await page.evaluate('scrollTo(0, 0)');
    const toast = await page.locator('.toast').boundingBox();
    const row = await findRow(page, 'Covered').first().boundingBox();
    if (!toast || !row) throw new Error('The toast or the row is not drawn');
    expect(toast.y >= row.y + row.height || toast.y + toast.height <= row.y).toBe(true);
    await undo.click();
  });

  test('a deletion is sent when the page is left', async () => {
    await pages.createRow({ description: 'Gone for good' });
    const page = await pages.visit();
    await stopTime(page);
    await findRow(page, 'Gone for good').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await pages.readRows('Gone for good')).toHaveLength(1);
    await page.goto('about:blank');
    await expect.poll(() => pages.readRows('Gone for good')).toEqual([]);
  });

  test('rows without a category are categorised together with similar ones', async () => {
    const category_id = await pages.createCategory('Bread');
    for (const number of [11, 22, 33])
      await pages.createRow({ description: `Bakery ${number}`, transaction_date: '2020-05-04' });
    await pages.createRow({ description: 'Butcher', transaction_date: '2020-05-03' });
    const page = await pages.visit('#period=2020-05');
    await page.getByRole('link', { name: 'Uncategorised (4)' }).click();
    // The test waits for the uncategorised rows: a field in the previous rows would be replaced while it is typed in.
    await page.waitForSelector('.chips [aria-current]:has-text("Uncategorised")');
    await waitUntilIdle(page);
    await findRow(page, 'Bakery 22').getByRole('combobox', { name: 'Category' }).fill('bre');
    await expectAccessibleInBothSchemes(page);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Put 2 others in Bread' }).click();
    await page.getByRole('link', { name: 'Uncategorised (1)' }).waitFor();
    await page.waitForSelector('.entry:has-text("Butcher") [role=combobox]:focus');
    await page.keyboard.type('bre');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Uncategorised (0)' }).waitFor();
    await page.waitForSelector('[aria-label="Select all"]:focus');
    await expect
      .poll(async () => (await pages.readRows('Bakery')).map((row) => row.category_id))
      .toEqual([category_id, category_id, category_id]);
  });

  test('the page says when every row has a category, and a filter that no row matches can be cleared', async () => {
    const category_id = await pages.createCategory('Sorted');
    const transaction_date = '1996-05-04';
    await pages.createRow({ description: 'Sorted before', transaction_date, category_id });
    await pages.createRow({ description: 'Sorted last', transaction_date });
    const page = await pages.visit('#period=1996-05&category=none');
    await findRow(page, 'Sorted last').getByRole('combobox', { name: 'Category' }).fill('sort');
    await page.keyboard.press('Enter');
    await page.getByText('Everything has a category.').waitFor();
    const chart = page.getByRole('region', { name: 'By time' });
    expect(await chart.textContent()).toContain('No transactions match.');
    await expectAccessibleInBothSchemes(page);
    await page.getByRole('link', { name: 'Show all', exact: true }).click();
    await findRow(page, 'Sorted before').waitFor();
    await findRow(page, 'Sorted last').waitFor();
    for (const filter of ['type=income', 'q=nowhere', `category=${category_id}&q=nowhere`]) {
      await page.goto(`${pages.url()}/#period=1996-05&${filter}`);
      await page.getByText('No transactions match.').last().waitFor();
      expect(await page.getByText('in this period yet').count()).toBe(
        Number(!filter.includes('q')),
      );
      await page.getByRole('link', { name: 'Clear the filter' }).click();
      await findRow(page, 'Sorted before').waitFor();
    }
    await page.goto(`${pages.url()}/#period=1995-05&category=none`);
    await page.getByRole('link', { name: 'Clear the filter' }).waitFor();
    expect(await page.getByText('Everything has a category').count()).toBe(0);
  });

  test('a search that finds nothing in the period can be extended to all dates', async () => {
    await pages.createRow({ description: 'Elsewhen', transaction_date: '1994-01-02' });
    const page = await pages.visit('#period=1994-03&q=elsewhen');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Search all dates' }).click();
    await findRow(page, 'Elsewhen').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('elsewhen');
    await page.goto(`${pages.url()}/#period=all&q=elsewhere-not`);
    await page.getByRole('link', { name: 'Clear the filter' }).waitFor();
    expect(await page.getByRole('link', { name: 'Search all dates' }).count()).toBe(0);
  });

  test('a category field offers the other categories, and typing replaces its text', async () => {
    const [currentId] = [
      await pages.createCategory('Taken before'),
      await pages.createCategory('Taken after'),
    ];
    await pages.createRow({
      description: 'Taken',
      category_id: currentId,
      transaction_date: '2013-07-01',
    });
    const page = await pages.visit('#period=2013-07');
    await findRow(page, 'Taken').click();
    const edit = page.getByRole('form', { name: /^Edit/ });
    await edit.getByLabel('Category').click();
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
    await options.nth(1).waitFor();
    expect(await options.first().textContent()).toBe('Taken before');
    await page.keyboard.type('Taken a');
    await page.keyboard.press('Enter');
    await findRow(page, 'Taken after').waitFor();
  });

  test('a category that is created while the page reads its list is created once', async () => {
    for (const description of ['Into a new one', 'Into the same'])
      await pages.createRow({ description, transaction_date: '2020-07-04' });
    const page = await pages.visit('#period=2020-07');
    const [isRequested, isCreated] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/categories?*', async (route) => {
      const response = await route.fetch();
      isRequested.resolve();
      await isCreated.promise;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await isRequested.promise;
    const categorise = async (description: string) => {
      const field = findRow(page, description).getByRole('combobox', { name: 'Category' });
      await field.fill('Just now');
      await page.keyboard.press('Enter');
      await field.waitFor({ state: 'detached' });
    };
    await categorise('Into a new one');
    isCreated.resolve();
    await waitUntilIdle(page);
    await categorise('Into the same');
    await expect
      .poll(async () => (await pages.readRows('Into')).map((row) => row.category_name))
      .toEqual(['Just now', 'Just now']);
    expect(await page.getByText('was not created').count()).toBe(0);
  });

  test('on a phone rows are categorised in the inbox', async () => {
    const category_id = await pages.createCategory('By thumb');
    for (const description of ['Tapped', 'Then typed'])
      await pages.createRow({ description, transaction_date: '2020-06-04' });
    const page = await pages.visit('#period=2020-06', AS_PHONE);
    expect(await page.getByRole('combobox', { name: 'Category' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Uncategorised (2)' }).click();
    const field = findRow(page, 'Tapped').getByRole('combobox', { name: 'Category' });
    await field.waitFor();
    await waitUntilIdle(page);
    const box = await findBox(field);
    expect(box.height).toBeGreaterThanOrEqual(44);
    const amount = findRow(page, 'Tapped').locator('.in-amount');
    expect((await findBox(amount)).x).toBeGreaterThanOrEqual(box.right);
    await expectAccessibleInBothSchemes(page);
    await field.fill('by t');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.entry:has-text("Then typed") [role=combobox]:focus');
    await expect.poll(() => pages.readRows('Tapped')).toMatchObject([{ category_id }]);
  });

  test('on a phone the categories for the selected rows are listed above the field, within the screen', async () => {
    for (const name of ['Listed one', 'Listed two', 'Listed three'])
      await pages.createCategory(name);
    await pages.createRow({ description: 'To be listed', transaction_date: '2020-08-04' });
    const page = await pages.visit('#period=2020-08', { viewport: { width: 320, height: 568 } });
    await findRow(page, 'To be listed').getByRole('checkbox').check();
    const field = page.getByRole('combobox', { name: 'Category for selected' });
    await field.fill('listed');
    const list = await findBox(page.getByRole('listbox', { name: 'Suggestions' }));
    expect(list.y).toBeGreaterThanOrEqual(0);
    expect(list.y + list.height).toBeLessThanOrEqual((await findBox(field)).y);
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect
      .poll(() => pages.readRows('To be listed'))
      .toMatchObject([{ category_name: 'Listed one' }]);
  });

  test('on a phone, the form of a row at the bottom of the screen opens with its buttons on the screen', async () => {
    for (const n of [1, 2, 3, 4])
      await pages.createRow({ description: `Low ${n}`, transaction_date: '2020-10-04' });
    const page = await pages.visit('#period=2020-10', AS_PHONE);
    const { y, height } = await findBox(findRow(page, 'Low 1'));
    await page.setViewportSize({ width: 390, height: Math.ceil(y + height) });
    await findRow(page, 'Low 1').click();
    const save = await findBox(page.getByRole('button', { name: 'Save' }));
    expect(save.y + save.height).toBeLessThanOrEqual(Math.ceil(y + height));
    await page.waitForSelector('.edit-row input:focus');
  });

  test('Apply without a category changes no selected row, and a separate button removes the category', async () => {
    const category_id = await pages.createCategory('Kept');
    for (const description of ['Grouped one', 'Grouped two'])
      await pages.createRow({ description, category_id, transaction_date: '2020-09-04' });
    const page = await pages.visit('#period=2020-09');
    const hasCategory = async () =>
      (await pages.readRows('Grouped')).map((row) => row.category_id === category_id);
    const field = page.getByRole('combobox', { name: 'Category for selected' });
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: 'Apply' }).click();
    await field.and(page.locator(':focus')).waitFor();
    await page.getByRole('option', { name: 'Kept' }).waitFor();
    await page.getByText('2 selected').waitFor();
    expect(await hasCategory()).toEqual([true, true]);
    await page.getByRole('button', { name: 'Remove category' }).click();
    await page.waitForSelector('.entry:focus');
    await expect.poll(hasCategory).toEqual([false, false]);
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await field.waitFor();
    expect(await page.getByRole('button', { name: 'Remove category' }).count()).toBe(0);
  });

  test('250 rows are categorised at once over a connection that breaks, and refused rows are listed', async () => {
    const category_id = await pages.createCategory('Many');
    const transactions = Array.from({ length: 250 }, (_, n) => ({
      description: `Bulk row ${n}`,
      amount: 1,
      type: 'expense',
      transaction_date: '2019-03-10',
    }));
    for (const start of [0, 100, 200])
      await pages.post('/transactions/bulk', {
        transactions: transactions.slice(start, start + 100),
      });
    const page = await pages.visit('#period=2019-03');
    const [refusedRow] = await pages.readRows('Bulk row 100');
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: 'All 250' }).click();
    await page.getByText('250 selected').waitFor();
    await expectAccessible(page);
    await pages.call('PUT', `/transactions/${refusedRow?.id}`, { notes: 'changed elsewhere' });
    let cuts = 0;
    await page.route('**/transactions/bulk', async (route) => {
      if (cuts >= 2) return await route.fallback();
      cuts += 1;
      if (cuts === 2) await route.fetch();
      await route.abort();
    });
    await page.getByRole('combobox', { name: 'Category for selected' }).fill('Many');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('“Bulk row 100” was not saved').waitFor();
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    const rows = await pages.readRows('Bulk row');
    expect(rows).toHaveLength(250);
    expect(rows.filter((row) => row.category_id !== category_id).map(({ id }) => id)).toEqual([
      refusedRow?.id,
    ]);
  });

  test('the user changes the period by buttons, by Back, by chosen dates and by a bar of the chart', async () => {
    await pages.createRow({ description: 'In March', transaction_date: '2021-03-15', amount: 30 });
    await pages.createRow({ description: 'In April', transaction_date: '2021-04-15', amount: 40 });
    const page = await pages.visit('#period=2021-04');
    await findRow(page, 'In April').waitFor();
    await page.getByRole('button', { name: 'Previous month' }).click();
    await findRow(page, 'In March').waitFor();
    expect(await findRow(page, 'In April').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Totals' }).textContent()).toContain('30.00');
    await page.getByRole('button', { name: 'Next month' }).click();
    await findRow(page, 'In April').waitFor();
    await page.goBack();
    await findRow(page, 'In March').waitFor();
    await page.getByRole('combobox', { name: 'Period' }).selectOption('2021');
    await findRow(page, 'In April').waitFor();
    await page.getByRole('button', { name: 'March 2021' }).click();
    await page.getByRole('heading', { name: 'March 2021' }).waitFor();
    expect(page.url()).toContain('period=2021-03');
    await page.getByRole('combobox', { name: 'Period' }).selectOption('dates');
    await page.getByLabel('First day').fill('2021-03-15');
    await page.getByLabel('Last day').fill('2021-04-15');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await findRow(page, 'In April').waitFor();
    expect(await findRow(page, 'In March').count()).toBe(1);
  });

  test('a search shows the totals of its rows, and Back leaves the search, however slowly the user typed', async () => {
    await pages.createRow({ description: 'Pear cake', amount: 4, transaction_date: '2018-01-02' });
    await pages.createRow({ description: 'Pear juice', amount: 5, transaction_date: '2018-01-03' });
    await pages.createRow({ description: 'Apple pie', amount: 6, transaction_date: '2018-01-03' });
    const page = await pages.visit('#period=2018');
    await findRow(page, 'Apple pie').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('pe');
    await page.waitForURL(/q=pe$/);
    await page.keyboard.type('ar');
    await page.waitForURL(/q=pear$/);
    // The address changes before the page has drawn the new view.
    await findRow(page, 'Apple pie').waitFor({ state: 'detached' });
    expect(await page.getByRole('region', { name: 'Totals' }).textContent()).toContain('9.00');
    // The field changes together with the rows, not one frame later.
    await page.evaluate('window.requestAnimationFrame = window.setTimeout = () => 0');
    await page.goBack();
    await findRow(page, 'Apple pie').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.goForward();
    await findRow(page, 'Apple pie').waitFor({ state: 'detached' });
    expect(await page.getByRole('searchbox').inputValue()).toBe('pear');
  });

  test('a new category is sent once, however often Enter is pressed', async () => {
    const page = await pages.visit();
    const isPressed = Promise.withResolvers<void>();
    let requests = 0;
    await page.route('**/categories', async (route) => {
      if (route.request().method() === 'POST') {
        requests += 1;
        await isPressed.promise;
      }
      await route.fallback();
    });
    await page.getByRole('button', { name: 'Categories' }).click();
    const sheet = page.getByRole('dialog', { name: 'Categories' });
    const field = sheet.getByLabel('New category');
    await field.fill('Pressed twice');
    await field.press('Enter');
    await field.press('Enter');
    isPressed.resolve();
    await sheet.getByRole('button', { name: 'Change Pressed twice' }).waitFor();
    expect(requests).toBe(1);
  });

  test('a category is created, renamed, merged into another and deactivated', async () => {
    await pages.createRow({
      description: 'To be moved',
      category_id: await pages.createCategory('From'),
      transaction_date: '2017-01-01',
    });
    const into = await pages.createCategory('Into');
    const page = await pages.visit('#period=2017');
    await page.getByRole('button', { name: 'Categories' }).click();
    const sheet = page.getByRole('dialog', { name: 'Categories' });
    await sheet.getByLabel('New category').fill('Made here');
    await sheet.getByRole('button', { name: 'Create' }).click();
    await sheet.getByRole('button', { name: 'Change Made here' }).click();
    await sheet.getByLabel('Name').fill('Renamed here');
    await expectAccessible(page);
    await sheet.getByRole('button', { name: 'Save' }).click();
    await sheet.getByRole('button', { name: 'Change From' }).click();
    // Until the first category is saved, its form is the one with these labels.
    await sheet.getByRole('button', { name: 'Done with From' }).waitFor();
    await sheet.getByLabel('Merge into').selectOption('Into');
    await sheet.getByRole('button', { name: 'Merge' }).click();
    await sheet.getByText('Inactive (1)').waitFor();
    await sheet.getByRole('alert').getByText('Moved 1 transaction from From to Into').waitFor();
    expect(await sheet.locator('.unseen[role=status]').textContent()).toBe('Moved 1 transaction');
    await expectAccessibleInBothSchemes(page);
    await sheet.getByText('Renamed here').first().waitFor();
    expect((await pages.readRows('To be moved')).map((row) => row.category_id)).toEqual([into]);
  });

  test('a merge is undone, except for transactions that have been changed since, which are named', async () => {
    const [from, into] = [
      await pages.createCategory('Split off'),
      await pages.createCategory('Merged into'),
    ];
    const fields = { transaction_date: '1988-01-01', category_id: from };
    const changedId = await pages.createRow({ ...fields, description: 'Merged and changed' });
    const unchangedRow = { ...fields, description: 'Merged and left', amount: 1, type: 'expense' };
    for (const length of [100, 1])
      await pages.post('/transactions/bulk', {
        transactions: Array.from({ length }, () => unchangedRow),
      });
    await pages.createRow({ ...fields, category_id: into, description: 'Merged never' });
    const page = await pages.visit('#period=1988');
    await page.getByRole('button', { name: 'Categories' }).click();
    await page.getByRole('button', { name: 'Change Split off' }).click();
    await page.getByLabel('Merge into').selectOption(String(into));
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    const alert = page.getByRole('dialog').getByRole('alert');
    await alert.getByText('Moved 102 transactions from Split off to Merged into').waitFor();
    await pages.call('PUT', `/transactions/${changedId}`, { notes: 'changed meanwhile' });
    // The first response to the undo is lost.
    let requests = 0;
    const isNoticeShown = Promise.withResolvers<void>();
    await page.route('**/transactions/bulk', async (route) => {
      requests += 1;
      if (requests === 2) await isNoticeShown.promise;
      if (requests > 1) return await route.fallback();
      await route.fetch();
      await route.abort();
    });
    await alert.getByRole('button', { name: 'Undo' }).click();
    await alert.getByText('Moving back 102 transactions to Split off').waitFor();
    isNoticeShown.resolve();
    await alert.getByText('Moved back 101 transactions to Split off').waitFor();
    await alert.getByText('Merged and changed: it has since been changed.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Change Split off' }).waitFor();
    const counts = Map.groupBy(await pages.readRows('Merged'), (row) => row.category_id);
    expect([counts.get(from)?.length, counts.get(into)?.length]).toEqual([101, 2]);
  });

  test('Done saves the changes to a category, and Escape discards them', async () => {
    const id = await pages.createCategory('Done before');
    await pages.createCategory('Done taken');
    const page = await pages.visit('#period=1991');
    const writes: string[] = [];
    page.on(
      'request',
      (request) => void (request.method() === 'PUT' && writes.push(request.url())),
    );
    await page.getByRole('button', { name: 'Categories' }).click();
    const sheet = page.getByRole('dialog', { name: 'Categories' });
    const [name, done] = [
      sheet.getByLabel('Name', { exact: true }),
      sheet.getByRole('button', { name: /^Done with/ }),
    ];
    const change = sheet.getByRole('button', { name: 'Change Done before' });
    await change.click();
    await done.click();
    await change.click();
    await name.fill('Not to be saved');
    await page.keyboard.press('Escape');
    await name.waitFor({ state: 'detached' });
    await page.waitForSelector('[aria-label="Change Done before"]:focus');
    await change.click();
    expect(await name.inputValue()).toBe('Done before');
    expect(writes).toEqual([]);
    await name.fill('Done taken');
    await done.click();
    await sheet.locator('.settings .field-error').waitFor();
    await expectAccessible(page);
    await name.fill('Done after');
    await done.click();
    await sheet.getByRole('button', { name: 'Change Done after' }).waitFor();
    expect(await name.count()).toBe(0);
    expect((await pages.call('GET', `/categories/${id}`)).data).toMatchObject({
      name: 'Done after',
    });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  });

  test('typed settings of a category are saved when another category opens or the sheet closes', async () => {
    for (const name of ['Typed one', 'Typed two', 'Typed taken']) await pages.createCategory(name);
    const listNames = async () => {
      const { data } = await pages.call('GET', '/categories');
      return (data as { name: string }[]).flatMap(({ name }) => (/^Typed/.test(name) ? name : []));
    };
    const page = await pages.visit('#period=1991');
    const openCategories = page.getByRole('button', { name: 'Categories' });
    await openCategories.click();
    const sheet = page.getByRole('dialog', { name: 'Categories' });
    const name = sheet.getByLabel('Name', { exact: true });
    const change = (text: string) => sheet.getByRole('button', { name: `Change ${text}` }).click();
    await change('Typed one');
    await name.fill('Typed taken');
    await change('Typed two');
    await sheet.locator('.settings .field-error').waitFor();
    expect(await name.inputValue()).toBe('Typed taken');
    await name.fill('Typed 1');
    await change('Typed two');
    await sheet.getByRole('button', { name: 'Done with Typed two' }).waitFor();
    await name.fill('Typed 2');
    await sheet.getByRole('button', { name: 'Close' }).click();
    await expect.poll(listNames).toEqual(['Typed 1', 'Typed 2', 'Typed taken']);
    await openCategories.click();
    await change('Typed 2');
    await name.fill('Typed taken');
    await sheet.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('alert').getByText('The changes to Typed 2 were not saved').waitFor();
    await page.getByRole('button', { name: 'Show them' }).click();
    expect(await name.inputValue()).toBe('Typed taken');
    await sheet.locator('.settings .field-error').waitFor();
    await expectAccessible(page);
  });

  test('typed settings of a category survive a reload', async () => {
    const id = await pages.createCategory('Reloaded before');
    await pages.call('PUT', `/categories/${id}`, { is_active: false });
    const page = await pages.visit('#period=1991');
    await page.getByRole('button', { name: 'Categories' }).click();
    const sheet = page.getByRole('dialog', { name: 'Categories' });
    await sheet.getByText(/^Inactive/).click();
    await sheet.getByRole('button', { name: 'Change Reloaded before' }).click();
    const name = sheet.getByLabel('Name', { exact: true });
    await name.fill('Reloaded after');
    await sheet.getByLabel('Monthly target').fill('20');
    await page.reload();
    await page.waitForSelector('dialog input:focus');
    expect(await name.inputValue()).toBe('Reloaded after');
    expect(await name.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    expect(await sheet.getByLabel('Monthly target').inputValue()).toBe('20');
    await expectAccessible(page);
    await sheet.getByRole('button', { name: 'Done with Reloaded before' }).click();
    await sheet.getByRole('button', { name: 'Change Reloaded after' }).waitFor();
    await page.reload();
    await waitUntilIdle(page);
    expect(await sheet.count()).toBe(0);
  });

  test('a selection of all rows and a merge continue while the page refreshes its figures', async () => {
    const [from, into] = [
      await pages.createCategory('Read again'),
      await pages.createCategory('Read whole'),
    ];
    const row = { description: 'Held', amount: 1, type: 'expense', category_id: from };
    for (const count of [100, 1])
      await pages.post('/transactions/bulk', {
        transactions: Array.from({ length: count }, () => ({
          ...row,
          transaction_date: '2010-03-04',
        })),
      });
    const page = await pages.visit(`#period=2010&category=${from}`);
    let refreshed = page.waitForRequest(/\/categories\?/);
    await page.route(/export.*category_id/, async (route) => {
      await refreshed;
      await route.continue();
    });
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('button', { name: 'All 101' }).click();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('101 selected').waitFor();
    await page.getByRole('button', { name: 'Categories' }).click();
    await page.getByRole('button', { name: 'Change Read again' }).click();
    await page.getByLabel('Merge into').selectOption(String(into));
    refreshed = page.waitForRequest(/\/categories\?/);
    await page.getByLabel('Color').fill('#123456');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('Moved 101 transactions from Read again to Read whole').waitFor();
    expect((await pages.readRows('Held')).filter((each) => each.category_id !== into)).toEqual([]);
  });

  test('a category gets a color and a monthly target, and is deactivated', async () => {
    const id = await pages.createCategory('Aimed');
    const fields = { category_id: id, amount: 30, transaction_date: '2012-02-03' };
    await pages.createRow({ description: 'Over the target', ...fields });
    const page = await pages.visit('#period=2012-02');
    await page.getByRole('button', { name: 'Categories' }).click();
    await page.getByRole('button', { name: 'Change Aimed' }).click();
    await page.getByLabel('Color').fill('#123456');
    await page.getByLabel('Monthly target').fill('20');
    await page.getByRole('button', { name: 'Save' }).click();
    const readStored = async () => (await pages.call('GET', `/categories/${id}`)).data;
    await expect.poll(readStored).toMatchObject({ color: '#123456', is_active: true });
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await expect.poll(readStored).toMatchObject({ is_active: false });
    await page.waitForSelector('.categories button:focus');
    await page.reload();
    await page.locator('.bar.over').getByText('of 20.00').waitFor();
    await expectAccessible(page);
  });

  test('right-to-left text is shown from right to left', async () => {
    await pages.createRow({
      description: 'قهوة',
      notes: 'مع صديق',
      transaction_date: '2011-02-03',
    });
    const page = await pages.visit('#period=2011-02');
    await findRow(page, 'قهوة').waitFor();
    const directions = await page.evaluate(
      "[...document.querySelectorAll('.in-description .text')].map((text) => getComputedStyle(text).direction)",
    );
    expect(directions).toEqual(['rtl', 'rtl']);
  });

  test('figures of one period are never shown under the name of another', async () => {
    await pages.createRow({ description: 'Long ago', transaction_date: '2016-06-01', amount: 16 });
    const page = await pages.visit('#period=2016-06');
    await findRow(page, 'Long ago').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('combobox', { name: 'Period' }).selectOption('all');
    await page.getByText('cannot be reached').waitFor();
    expect(await page.getByRole('region', { name: 'Totals' }).isVisible()).toBe(false);
    expect(await page.getByText('Long ago').filter({ visible: true }).count()).toBe(0);
    await expectAccessible(page);
    await page.goBack();
    await findRow(page, 'Long ago').waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('The figures shown are from').waitFor();
    await page.context().setOffline(false);
    await page.getByText('The figures shown are from').waitFor({ state: 'detached' });
  });

  test('with a read-only key the page shows everything and allows no edits', async () => {
    await pages.createRow({ description: 'Only seen' });
    const page = await pages.open();
    const data = { ledger: 'default', scope: 'read', kind: 'key', key_id: 'k1', name: 'phone' };
    await page.route('**/me', (route) => route.fulfill({ json: { success: true, data } }));
    await page.goto(pages.url());
    await findRow(page, 'Only seen').waitFor();
    await findRow(page, 'Only seen').click();
    expect(await findAddForm(page).count()).toBe(0);
    for (const name of ['Delete', 'Save', 'Import a file'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await expectAccessible(page);
  });

  test('a key is requested, kept in the tab or on the device, and forgotten', async () => {
    const page = await pages.open(AS_PHONE);
    const refusal = { success: false, error: 'unauthenticated', message: 'No' };
    await page.route(/\/(me|summary|categories|transactions)\b/, async (route) => {
      // The service of this test has no keys, so the test checks the key itself.
      const { authorization, ...headers } = route.request().headers();
      if (authorization === 'Bearer fl_right') await route.continue({ headers });
      else await route.fulfill({ status: 401, json: refusal });
    });
    await page.goto(pages.url());
    const field = page.getByLabel('API key');
    await field.waitFor();
    await expectAccessible(page);
    await field.fill('fl_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is not valid').waitFor();
    await expectAccessible(page);
    for (const isOnDevice of [false, true]) {
      await field.fill('fl_right');
      await page.getByLabel('Keep the key on this device').setChecked(isOnDevice);
      await page.getByRole('button', { name: 'Open' }).click();
      await page.waitForSelector('.caller:has-text("default")');
      await page.waitForSelector('.stepper h2:focus');
      await page.getByText('Ledger default opened').waitFor();
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 844 });
        for (const action of await page.locator('header nav > :is(a, button)').all()) {
          const { x, right } = await findBox(action);
          expect(x).toBeGreaterThanOrEqual(0);
          expect(right).toBeLessThanOrEqual(width);
        }
      }
      expect(page.url()).not.toContain('fl_');
      const storedKeys = ["localStorage.getItem('api-key')", "sessionStorage.getItem('api-key')"];
      expect(await page.evaluate(`[${storedKeys}, document.cookie]`)).toEqual(
        isOnDevice ? ['fl_right', null, ''] : [null, 'fl_right', ''],
      );
      await page.getByRole('button', { name: 'Forget key' }).click();
      await field.waitFor();
      expect(await page.evaluate(`[${storedKeys}]`)).toEqual([null, null]);
    }
  });

  test('typing one part of a date keeps the other parts', async () => {
    await pages.createRow({ description: 'Dated', transaction_date: '2011-11-11' });
    const page = await pages.visit('#period=2011-11');
    await findRow(page, 'Dated').click();
    for (const form of [findAddForm(page), page.getByRole('form', { name: /^Edit/ })]) {
      const date = form.getByLabel('Date');
      await date.fill('2011-11-11');
      await date.blur();
      await date.focus();
      await page.keyboard.press('0');
      // With an incomplete part, the field has no date yet.
      expect(await date.inputValue()).toBe('');
      await page.keyboard.press('5');
      await expect.poll(() => date.inputValue()).toMatch(/^2011-(05-11|11-05)$/);
    }
  });

  test('on a phone rows are added in a sheet, which keeps the draft', async () => {
    const page = await pages.visit('', AS_PHONE);
    const openSheet = page.getByRole('button', { name: 'Add a transaction' });
    await page.evaluate(`
      window.focused = [];
      addEventListener('focusin', ({ target }) => focused.push(target.textContent || target.tagName));
    `);
    await openSheet.click();
    await page.waitForSelector('.of-description input:focus');
    // The focus moves straight from the button to the field: a screen reader would announce any element in between.
    expect(await page.evaluate('focused')).toEqual(['Add a transaction', 'INPUT']);
    await expectAccessibleInBothSchemes(page);
    await page.keyboard.type('By thumb');
    await findAddForm(page).getByLabel('Amount').fill('2.50');
    await page.keyboard.press('Escape');
    await findAddForm(page).waitFor({ state: 'detached' });
    await openSheet.click();
    await findAddForm(page).getByRole('button', { name: 'Add' }).click();
    await findAddForm(page).getByText('Added By thumb, 2.50').waitFor();
    await page.waitForSelector('.of-description input:focus');
    await page.keyboard.type('Next by thumb');
    await findAddForm(page).getByLabel('Amount').fill('3');
    await findAddForm(page).getByLabel('Category').fill('Thumb');
    // The sheet must not cut off the list of options.
    const option = page.getByRole('option', { name: 'Create “Thumb”' });
    await option.waitFor();
    const isOnTop = `(() => {
      const option = document.querySelector('[role=option]');
      const { left, bottom } = option.getBoundingClientRect();
      return option.contains(document.elementFromPoint(left + 4, bottom - 4));
    })()`;
    expect(await page.evaluate(isOnTop)).toBe(true);
    await option.click();
    await findAddForm(page).getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await findRow(page, 'Next by thumb').getByText('-3.00').waitFor();
    await expect.poll(async () => (await pages.readRows('by thumb')).length).toBe(2);
  });

  test.each([
    ['even after a reload', true],
    ['with its errors', false],
  ])(
    'on a phone a row that is refused while the sheet is closed can be typed again, %s',
    async (_, isReloaded) => {
      const page = await pages.visit('', AS_PHONE);
      const isClosed = Promise.withResolvers<void>();
      await page.route('**/transactions', async (route) => {
        await isClosed.promise;
        await route.fallback();
      });
      const openSheet = page.getByRole('button', { name: 'Add a transaction' });
      await openSheet.click();
      await page.keyboard.type('Refused by thumb');
      await findAddForm(page).getByLabel('Amount').fill('1.2345');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await findAddForm(page).waitFor({ state: 'detached' });
      isClosed.resolve();
      await page.getByRole('alert').getByText('“Refused by thumb” was not saved').waitFor();
      if (isReloaded) await page.reload();
      await openSheet.click();
      const description = findAddForm(page).getByLabel('Description');
      expect(await description.inputValue()).toBe('Refused by thumb');
      await expect
        .poll(() => findAddForm(page).locator('[aria-invalid]').count())
        .toBe(isReloaded ? 0 : 1);
    },
  );

  test('the keyboard shortcuts are listed, and the currency sign is a setting of the browser', async () => {
    await pages.createRow({ description: 'In euros', amount: 8 });
    const page = await pages.visit();
    await page.keyboard.press('?');
    await page
      .getByRole('dialog', { name: 'Keyboard shortcuts' })
      .getByText('Add a transaction')
      .waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    await page.getByLabel('Currency sign').selectOption('EUR');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await findRow(page, 'In euros').getByText('-€8.00').waitFor();
    await page.reload();
    await findRow(page, 'In euros').getByText('-€8.00').waitFor();
  });

  test.each([
    [390, 844],
    [320, 640],
  ])(
    'on a phone of %d pixels nothing moves, and a row is on the first screen',
    async (width, height) => {
      await pages.createRow({ description: 'Seen at once' });
      const page = await pages.open({
        viewport: { width, height },
        hasTouch: true,
        isMobile: true,
      });
      await page.addInitScript(`
      window.shifts = 0;
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts += value;
      }).observe({ type: 'layout-shift', buffered: true });
    `);
      await page.goto(pages.url());
      const row = findRow(page, 'Seen at once').first();
      await row.waitFor();
      await waitUntilIdle(page);
      await expectAccessible(page);
      expect(await page.evaluate('window.shifts')).toBeLessThanOrEqual(0.05);
      const { y, ...text } = await findBox(row.locator('.in-description'));
      // The description has most of the width, and the amount is below it.
      expect(text.width).toBeGreaterThan(0.6 * width);
      expect((await findBox(row.locator('.in-amount'))).y).toBeGreaterThanOrEqual(y + text.height);
      const first = await page.locator('.entry').first().boundingBox();
      expect((first?.y ?? height) + (first?.height ?? 0)).toBeLessThanOrEqual(height);
      const smallTargets =
        await page.evaluate(`[...document.querySelectorAll('body :is(button, summary, select, input:not([type=checkbox]), .box, td.pick, nav a)')]
      .filter((each) => !each.closest('.unseen'))
      .map((each) => [each.textContent, each.getBoundingClientRect()])
      .filter(([, { width, height }]) => width > 1 && (width < 43.5 || height < 43.5))
      .map(([text]) => text)`);
      expect(smallTargets).toEqual([]);
    },
  );
});
