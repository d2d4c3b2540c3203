// The page by keyboard alone: everything is reached by the tab key, the arrow keys and the shortcuts that the page lists.
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { findRow, openPages, stopTime } from './opened-page.ts';

const MAX_STOPS = 200;

describe.skipIf(whyChromiumUnavailable())('by keyboard alone', () => {
  const pages = openPages();

  /** Presses the tab key until the target has the focus, starting at the element that has it now. */
  async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      await page.keyboard.press(key);
      if ((await target.and(page.locator(':focus')).count()) > 0) return;
    }
    throw new Error(`The tab key does not reach ${target}`);
  }

  async function press(page: Page, ...keys: readonly string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  test('a row is corrected, deleted, and restored by Undo', async () => {
    await pages.createRow({ description: 'Stays', transaction_date: '2001-05-01' });
    const id = await pages.createRow({ description: 'Wrong', transaction_date: '2001-05-02' });
    const page = await pages.visit('#period=2001-05');
    // There is no row above the first, so ArrowUp stays on it.
    await press(page, 'ArrowDown', 'ArrowUp', 'Enter');
    await page.getByRole('form', { name: 'Edit Wrong' }).waitFor();
    await press(page, 'ControlOrMeta+a');
    await page.keyboard.type('Right');
    await press(page, 'Enter');
    await findRow(page, 'Right').waitFor();
    await expect
      .poll(async () => (await pages.readRows('Right')).map((row) => row.id))
      .toEqual([id]);
    await page.waitForSelector('.entry:focus');
    await stopTime(page);
    await press(page, 'Delete');
    await button(page, 'Undo').waitFor();
    await page.waitForSelector('.entry:has-text("Stays"):focus');
    await tabTo(page, button(page, 'Undo'));
    await press(page, 'Enter');
    await page.waitForSelector('.entry:has-text("Right"):focus');
    expect(await pages.readRows('Right')).toHaveLength(1);
  });

  test('a conflict takes the focus from its row, and returns it once the user has chosen', async () => {
    const [above, contested, below] = ['Above it', 'Contested', 'Below it'];
    const transaction_date = '2001-04-02';
    for (const description of [below, contested, above])
      await pages.createRow({ description, transaction_date });
    const page = await pages.visit('#period=2001-04');
    const edit = page.getByRole('form', { name: 'Edit Contested' });
    const conflict = page.getByRole('region', { name: 'Conflict: Contested' });
    const change = async (amount: number, changeElsewhere: () => Promise<unknown>) => {
      await press(page, 'Enter');
      await edit.waitFor();
      await changeElsewhere();
      await press(page, 'Tab');
      await page.keyboard.type(String(amount));
      await press(page, 'Enter');
      await conflict.and(page.locator(':focus')).waitFor();
    };
    const [{ id = 0 } = {}] = await pages.readRows(contested);
    await press(page, 'ArrowDown', 'ArrowDown');
    for (const [amount, choice] of [
      [20, 'Keep theirs'],
      [30, 'Keep mine'],
    ] as const) {
      await change(amount, () => pages.call('PUT', `/transactions/${id}`, { amount: amount + 1 }));
      await tabTo(page, conflict.getByRole('button', { name: choice }));
      await press(page, 'Enter');
      await page.waitForSelector('.entry:has-text("Contested"):focus');
    }
    await expect.poll(() => pages.readRows(contested)).toMatchObject([{ amount: 30 }]);
    await page.waitForSelector('.state:text-is("")', { state: 'attached' });
    await change(40, () => pages.call('DELETE', `/transactions/${id}`));
    await tabTo(page, conflict.getByRole('button', { name: 'Leave it deleted' }));
    await press(page, 'Enter');
    await page.waitForSelector('.entry:has-text("Below it"):focus');
  });

  test('a refused save does not move the focus, and Dismiss returns the focus to where it was', async () => {
    await pages.createRow({ description: 'Refused edit', transaction_date: '2001-03-02' });
    const page = await pages.visit('#period=2001-03');
    const alert = page.getByRole('alert').getByText('was not saved');
    await press(page, 'ArrowDown', 'Enter', 'Tab');
    await page.keyboard.type('1.2345');
    await press(page, 'Enter');
    await alert.waitFor();
    await page.waitForSelector('.entry:has-text("Refused edit"):focus');
    await button(page, 'Dismiss').focus();
    await press(page, 'Enter');
    await alert.waitFor({ state: 'detached' });
    await page.waitForSelector('.entry:has-text("Refused edit"):focus');
    await press(page, 'n');
    await page.keyboard.type('Refused row');
    await press(page, 'Tab');
    await page.keyboard.type('1.2345');
    await press(page, 'Enter');
    await alert.waitFor();
    await page.waitForSelector('.add-row .of-description input:focus');
  });

  test('rows are categorised, one by one and several at once', async () => {
    const category_id = await pages.createCategory('Typed');
    for (const description of ['First unsorted', 'Second unsorted', 'Third of the unsorted'])
      await pages.createRow({ description, transaction_date: '2001-06-02' });
    const page = await pages.visit('#period=2001-06');
    await press(page, 'ArrowDown');
    await tabTo(page, page.locator('.entry').first().getByRole('combobox', { name: 'Category' }));
    await page.keyboard.type('typ');
    await press(page, 'Enter');
    const countCategorised = async () =>
      (await pages.readRows('unsorted')).filter((row) => row.category_id === category_id).length;
    await expect.poll(countCategorised).toBe(1);
    // The category field of the next row gets the focus.
    await page.waitForSelector('.entry:nth-of-type(3) [role=combobox]:focus');
    await tabTo(page, page.locator('.entry').nth(1), 'Shift+Tab');
    await press(page, 'x', 'ArrowDown', 'Shift+X');
    await page.getByText('2 selected').waitFor();
    await tabTo(page, page.getByLabel('Category for selected'), 'Shift+Tab');
    await page.keyboard.type('typ');
    await press(page, 'Enter', 'Enter');
    await expect.poll(countCategorised).toBe(3);
  });

  test('months are browsed, searched, and opened by their bars', async () => {
    await pages.createRow({ description: 'In August', transaction_date: '2001-08-02' });
    const page = await pages.visit('#period=2001-09');
    await press(page, '[');
    await findRow(page, 'In August').waitFor();
    await press(page, ']');
    await findRow(page, 'In August').waitFor({ state: 'detached' });
    await press(page, '[', '/');
    await page.keyboard.type('august');
    await page.waitForURL(/q=august/);
    const yearPage = await pages.visit('#period=2001');
    await tabTo(yearPage, yearPage.locator('.period').first());
    // The Tab key stops at the bars only once.
    await press(yearPage, 'Tab');
    expect(await yearPage.locator('.period:focus').count()).toBe(0);
    await press(yearPage, 'Shift+Tab');
    const labels = "[...document.querySelectorAll('.period')].map((bar) => bar.ariaLabel)";
    const bars = (await yearPage.evaluate(labels)) as string[];
    const presses = bars.findIndex((label) => label.startsWith('August'));
    await press(yearPage, ...Array.from({ length: presses }, () => 'ArrowRight'), 'Enter');
    await yearPage.waitForURL(/period=2001-08/);
    await findRow(yearPage, 'In August').waitFor();
  });

  test('a category is created, renamed and merged into another', async () => {
    const from = await pages.createCategory('Merged by key');
    await pages.createRow({ description: 'Moved by key', category_id: from });
    const page = await pages.visit();
    await tabTo(page, button(page, 'Categories'));
    await press(page, 'Enter');
    const sheet = page.getByRole('dialog', { name: 'Categories' });
    await tabTo(page, sheet.getByLabel('New category'));
    await page.keyboard.type('Made by key');
    await press(page, 'Enter');
    await tabTo(page, sheet.getByRole('button', { name: 'Change Made by key' }));
    await press(page, 'Enter');
    await tabTo(page, sheet.getByLabel('Name'));
    await press(page, 'ControlOrMeta+a');
    await page.keyboard.type('Renamed by key');
    await press(page, 'Enter');
    await sheet.getByRole('button', { name: 'Done with Renamed by key' }).waitFor();
    await tabTo(page, sheet.getByRole('button', { name: 'Change Merged by key' }));
    await press(page, 'Enter');
    await tabTo(page, sheet.getByLabel('Merge into'));
    await page.keyboard.type('Renamed');
    await tabTo(page, sheet.getByRole('button', { name: 'Merge', exact: true }));
    await press(page, 'Enter');
    await sheet.getByText('Inactive (1)').waitFor();
    const alert = sheet.getByRole('alert');
    await alert.getByText('Moved 1 transaction from Merged by key to Renamed by key').waitFor();
    await page.waitForSelector('.categories button:focus');
    const readCategoryName = async () => (await pages.readRows('Moved by key'))[0]?.category_name;
    expect(await readCategoryName()).toBe('Renamed by key');
    // The Undo button disappears when it is pressed, and the focus stays in the notice.
    await tabTo(page, alert.getByRole('button', { name: 'Undo' }), 'Shift+Tab');
    await press(page, 'Enter');
    await alert.getByText('Moved back 1 transaction to Merged by key').waitFor();
    await page.waitForSelector('[role=alert] button:text-is("Dismiss"):focus');
    expect(await readCategoryName()).toBe('Merged by key');
    await press(page, 'Escape');
    await sheet.waitFor({ state: 'detached' });
  });

  test('the focus returns to the Settings button from a sheet that the settings open', async () => {
    const page = await pages.visit('#period=2001-02');
    for (const name of ['Imports of this ledger', 'Keyboard shortcuts']) {
      await tabTo(page, button(page, 'Settings'));
      await press(page, 'Enter');
      await tabTo(page, button(page, name));
      await press(page, 'Enter');
      await page.getByRole('dialog', { name: /^(Imports|Keyboard)/ }).waitFor();
      await press(page, 'Escape');
      await page.waitForSelector('nav button:text-is("Settings"):focus');
    }
  });

  test('a key is entered, kept on the device, and forgotten', async () => {
    await pages.createRow({ description: 'Behind the key' });
    const page = await pages.open();
    await page.route(/\/(me|summary|categories|transactions)\b/, async (route) => {
      // The service of this test has no keys, so the test checks the key itself.
      const { authorization, ...headers } = route.request().headers();
      if (authorization === 'Bearer fl_right') return await route.continue({ headers });
      const json = { success: false, error: 'unauthenticated', message: 'No' };
      await route.fulfill({ status: 401, json });
    });
    await page.goto(pages.url());
    await page.waitForSelector('input[type=password]:focus');
    await page.keyboard.type('fl_right');
    await press(page, 'Tab', 'Space', 'Enter');
    await page.waitForSelector('.stepper h2:focus');
    await press(page, 'ArrowDown');
    await page.waitForSelector('.entry:focus');
    expect(await page.evaluate("localStorage.getItem('api-key')")).toBe('fl_right');
    await tabTo(page, button(page, 'Forget key'));
    await press(page, 'Enter');
    await page.waitForSelector('input[type=password]:focus');
    expect(await page.evaluate("localStorage.getItem('api-key')")).toBe(null);
  });

  test('a file is imported, and the import undone', async () => {
    const page = await pages.visit();
    // The file chooser is awaited before the tab key is pressed: otherwise a key press could reach the page before the browser
    // knows that the test handles the chooser.
    const chooser = page.waitForEvent('filechooser');
    await tabTo(page, button(page, 'Import a file'));
    await press(page, 'Enter');
    const buffer = Buffer.from('Date,Description,Amount\n2001-07-13,By keyboard,-1.00');
    await (await chooser).setFiles({ name: 'bank.csv', mimeType: 'text/csv', buffer });
    const preview = page.getByRole('region', { name: 'Import preview' });
    await preview.getByText('1 new').waitFor();
    await tabTo(page, preview.getByRole('button', { name: 'Import', exact: true }));
    await press(page, 'Enter');
    await page.waitForSelector('[aria-label=Imported]:focus:has-text("1 imported")');
    expect(await pages.readRows('By keyboard')).toHaveLength(1);
    await tabTo(page, button(page, 'Undo'));
    await press(page, 'Enter');
    await expect.poll(() => pages.readRows('By keyboard')).toEqual([]);
    // The import is no longer shown, and the focus stays in its place.
    await page.waitForSelector('.import-place:focus', { state: 'attached' });
    await tabTo(page, button(page, 'Previous month'));
  });
});
