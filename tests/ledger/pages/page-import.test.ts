// The import of a bank's file through the page: preview, options, progress and Undo, and broken connections.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { expectAccessible } from '../../shared/pages/opened-pages.ts';
import { createWorkbook } from '../support/import/workbook.ts';
import { AS_PHONE, findRow, openPages } from './opened-page.ts';

const HEADER = 'Buchungstag;Verwendungszweck;Betrag;Kategorie';

function createBankFile(lines: readonly string[], name = 'bank.csv') {
  const text = [HEADER, ...lines].join('\n');
  return { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
}

/** @param year must differ between tests, so that rows of other tests are not possible duplicates */
function makeLines(count: number, text: string, year: number): string[] {
  return Array.from(
    { length: count },
    (_, n) => `${1 + (n % 28)}.03.${year};${text} ${n};-${n},50;`,
  );
}

async function chooseFile(page: Page, file: ReturnType<typeof createBankFile>) {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Import a file' }).click();
  await (await chooser).setFiles(file);
  const preview = page.getByRole('region', { name: 'Import preview' });
  await preview.waitFor();
  return preview;
}

const startImport = (page: Page) =>
  page
    .getByRole('region', { name: 'Import preview' })
    .getByRole('button', { name: 'Import', exact: true })
    .click();

describe.skipIf(whyChromiumUnavailable())('a file on the page', () => {
  const pages = openPages();

  test.each([
    ['light', {}],
    ['dark, on a phone', { ...AS_PHONE, colorScheme: 'dark' }],
  ] as const)('is previewed, imported and undone, %s', async (scheme, options) => {
    const page = await pages.visit('#period=2013-01', options);
    const preview = await chooseFile(
      page,
      createBankFile([
        `27.02.2014;Gehalt ${scheme};2.500,00;Pay`,
        `05.03.2014;Bäcker ${scheme};-3,20;food`,
        `05.03.2014;Bäcker ${scheme};-3,20;food`,
        `06.03.2014;Broken ${scheme};abc;food`,
      ]),
    );
    await preview.getByText('3 new').waitFor();
    await preview.getByText('income 2,500.00, expense 6.40').waitFor();
    const reading = preview.getByText('CSV · ');
    expect(await reading.isVisible()).toBe(false);
    await preview.getByText('How the file is read').click();
    await reading.waitFor();
    await expectAccessible(page);
    await startImport(page);
    await page.getByText('3 imported').waitFor();
    await expectAccessible(page);
    expect(await page.getByText('1 refused').count()).toBe(1);
    // Every row has a category, so no button offers to categorise the rest.
    expect(await page.locator('.import .primary').allTextContents()).toEqual(['Done']);
    // The page keeps its view, and offers a link to the rows.
    expect(await page.getByRole('heading', { name: 'January 2013' }).count()).toBe(1);
    await page.getByRole('link', { name: /^Show 27 Feb/ }).click();
    await findRow(page, `Bäcker ${scheme}`).first().waitFor();
    expect(await page.getByRole('link', { name: /^Show 27 Feb/ }).count()).toBe(0);
    expect(await findRow(page, `Bäcker ${scheme}`).count()).toBe(2);
    const names = (await pages.readRows(`Bäcker ${scheme}`)).map((row) => row.category_name);
    expect(names).toEqual(['food', 'food']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await findRow(page, `Gehalt ${scheme}`).waitFor({ state: 'detached' });
    await expect.poll(() => pages.readRows(scheme)).toEqual([]);
  });

  test('rows that exist already, and possible duplicates, are not imported again', async () => {
    const file = createBankFile(['07.05.2013;Twice;-12,00;', '08.05.2013;Typed by hand;-8,00;']);
    await pages.createRow({ description: 'By hand', amount: 8, transaction_date: '2013-05-08' });
    const page = await pages.visit();
    const preview = await chooseFile(page, file);
    await preview.getByText('Possible duplicates (1)').waitFor();
    await preview.getByText('1 new, 1 possible duplicate, 0 already there').waitFor();
    await startImport(page);
    await page.getByText('1 imported').waitFor();
    expect(await page.getByText('1 possible duplicate left out').count()).toBe(1);
    await chooseFile(page, file);
    await preview.getByText('0 new, 1 possible duplicate, 1 already there').waitFor();
    const button = preview.getByRole('button', { name: 'Import', exact: true });
    expect(await button.isDisabled()).toBe(true);
    await preview.getByLabel('Also import the 1 possible duplicate').check();
    await preview.getByText('1 new, 1 already there').waitFor();
    await startImport(page);
    await page.getByText('1 imported').waitFor();
    expect(await pages.readRows('Twice')).toHaveLength(1);
    expect(await pages.readRows('Typed by hand')).toHaveLength(1);
  });

  test('earlier rows provide the category, and Undo removes rows that were only categorised', async () => {
    const category_id = await pages.createCategory('Learned');
    for (const number of [1, 2, 3, 4, 5, 6])
      await pages.createRow({
        description: `Zoo ticket ${number}`,
        category_id,
        transaction_date: '2009-01-01',
      });
    const page = await pages.visit();
    const file = createBankFile([
      '03.04.2010;Zoo ticket 99;-9,00;',
      '04.04.2010;Never seen;-8,00;',
    ]);
    const preview = await chooseFile(page, file);
    await preview.getByText('Categorised like earlier rows (1)').waitFor();
    await startImport(page);
    await page.getByText('2 imported').waitFor();
    expect(await page.locator('.import .primary').allTextContents()).toEqual(['Categorise them']);
    await page.getByRole('link', { name: 'Categorise them' }).click();
    await page.waitForSelector('.entry:has-text("Never seen") [role=combobox]:focus');
    await page.keyboard.type('Learned');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Uncategorised (0)' }).waitFor();
    const readCategoryIds = async () =>
      (await pages.readRows('Never seen')).map((row) => row.category_id);
    await expect.poll(readCategoryIds).toEqual([category_id]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(readCategoryIds).toEqual([]);
    expect((await pages.readRows('Zoo ticket')).length).toBe(6);
  });

  test('the preview asks about an unclear column, and the answer is remembered for such files', async () => {
    const page = await pages.visit();
    const createUnclearFile = (line: string) => ({
      ...createBankFile([]),
      buffer: Buffer.from(`Date,Description,Amount\n${line}`),
    });
    const preview = await chooseFile(page, createUnclearFile('01/02/2012,Unclear order,-1.00'));
    await preview.getByText('“Order of dates”').waitFor();
    await expectAccessible(page);
    await preview.getByLabel('Order of dates').selectOption('dmy');
    await preview.getByText('1 new').waitFor();
    await startImport(page);
    await page.getByText('1 imported').waitFor();
    await page.getByRole('link', { name: 'Show February 2012' }).waitFor();
    await chooseFile(page, createUnclearFile('03/02/2012,Unclear again,-1.00'));
    await preview.getByText('as last time').waitFor();
    await preview.getByText('1 new').waitFor();
  });

  test('the preview of an unreadable file shows the reason, and has no Import button', async () => {
    const page = await pages.visit();
    const file = { name: 'photo.csv', mimeType: 'text/csv', buffer: Buffer.from('a\0b\0c') };
    const preview = await chooseFile(page, file);
    await preview.getByText('The file has no table').waitFor();
    expect(await preview.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0);
    await expectAccessible(page);
    await preview.getByRole('button', { name: 'Cancel' }).click();
    await preview.waitFor({ state: 'detached' });
  });

  test('rows that were imported under another account name are pointed out', async () => {
    const page = await pages.visit();
    // With fewer rows, the second import would show possible duplicates.
    const file = createBankFile(makeLines(12, 'Named later', 1993));
    const preview = await chooseFile(page, file);
    await preview.getByText('12 new').waitFor();
    await preview.getByText('First 8 of 12 rows').waitFor();
    await startImport(page);
    await page.getByText('12 imported').waitFor();
    await chooseFile(page, file);
    await preview.getByText('0 new').waitFor();
    await preview.getByText('How the file is read').click();
    await preview.getByLabel('Account name').fill('Joint');
    await preview.getByLabel('Account name').press('Tab');
    await preview.getByText('Other account names').click();
    await preview.getByText('12 rows were imported without an account name').waitFor();
    await preview.getByText('0 new, 12 already there').waitFor();
  });

  test('a connection that breaks in the middle neither loses nor duplicates a row', async () => {
    const page = await pages.visit();
    await chooseFile(page, createBankFile(makeLines(250, 'Cut row', 2015)));
    let requests = 0;
    await page.route('**/transactions/bulk', async (route) => {
      requests += 1;
      // The first request is lost before it arrives; of the third request only the response is lost.
      if (requests === 1) return await route.abort();
      if (requests !== 3) return await route.fallback();
      await route.fetch();
      await route.abort();
    });
    await startImport(page);
    await page.getByText('250 imported').waitFor();
    expect(requests).toBe(5);
    expect(await pages.readRows('Cut row')).toHaveLength(250);
  });

  test('a category whose creation gets no response is created once, and the import continues', async () => {
    const page = await pages.visit();
    await chooseFile(page, createBankFile(['03.01.2004;Into the unanswered;-4,00;Unanswered']));
    let attempts = 0;
    await page.route('**/categories', async (route) => {
      attempts += 1;
      if (attempts > 4) return await route.fallback();
      await route.fetch();
      await route.abort();
    });
    await startImport(page);
    await page.getByText('1 imported').waitFor();
    const { data } = await pages.call('GET', '/categories');
    const created = (data as { name: string }[]).filter(({ name }) => name === 'Unanswered');
    expect(created).toHaveLength(1);
    expect(await pages.readRows('Into the unanswered')).toMatchObject([
      { category_name: 'Unanswered' },
    ]);
  });

  test('a row that is deleted after an interrupted import stays deleted when the import resumes', async () => {
    const page = await pages.visit();
    const file = createBankFile(makeLines(250, 'Interrupted row', 2008), 'interrupted.csv');
    await chooseFile(page, file);
    let requests = 0;
    await page.route('**/transactions/bulk', async (route) => {
      requests += 1;
      if (requests === 1) return await route.fallback();
      await route.fulfill({
        status: 403,
        json: { success: false, error: 'forbidden', message: 'No' },
      });
    });
    await startImport(page);
    await page.getByText('The import stopped').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const [row] = await pages.readRows('Interrupted row 7');
    await pages.call('DELETE', `/transactions/${row?.id}`);
    const preview = await chooseFile(page, file);
    await preview.getByText('150 new, 99 already there').waitFor();
    await preview.getByText('Deleted earlier, and left out (1)').waitFor();
    const withDeleted = preview.getByLabel('Import the deleted rows again');
    await withDeleted.check();
    await preview.getByText('151 new, 99 already there').waitFor();
    await withDeleted.uncheck();
    await preview.getByText('150 new, 99 already there').waitFor();
  });

  test('an import in another tab that continues while a file is previewed keeps its record', async () => {
    const page = await pages.visit();
    const writeRecord = (rows: readonly string[]) =>
      pages.call('PUT', '/imports', { import_id: 'of another tab', rows });
    await writeRecord(['first', 'unsent', 'second']);
    const preview = await chooseFile(
      page,
      createBankFile(['03.02.2002;Next import;-6,00;'], 'next.csv'),
    );
    await preview.getByText('1 new').waitFor();
    await writeRecord(['first', 'second', 'third']);
    await startImport(page);
    await page.getByText('1 imported').waitFor();
    const { data } = await pages.call('GET', '/imports');
    const rows = ['first', 'second', 'third'];
    expect(data).toContainEqual({ import_id: 'of another tab', part: 1, rows });
  });

  test('an edited export changes only transactions that have not changed since the export', async () => {
    await pages.createRow({ description: 'To edit', transaction_date: '2007-02-01' });
    const id = await pages.createRow({
      description: 'Edited here, too',
      transaction_date: '2007-02-02',
    });
    const csv = await (
      await fetch(`${pages.url()}/transactions/export?start_date=2007-01-01&end_date=2007-12-31`)
    ).text();
    const text = csv.replace('To edit', 'Edited').replace('Edited here, too', 'Edited there');
    const file = { name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    const page = await pages.visit();
    const preview = await chooseFile(page, file);
    await preview.getByText('Edited in the file (2)').click();
    await preview.getByText('description To edit → Edited').waitFor();
    const button = preview.getByRole('button', { name: 'Import', exact: true });
    expect(await button.isDisabled()).toBe(true);
    await preview.getByLabel('Change the 2 transactions').check();
    await expectAccessible(page);
    await pages.call('PUT', `/transactions/${id}`, { notes: 'changed meanwhile' });
    await button.click();
    await page.getByText('1 changed').waitFor();
    await page.getByText('Refused (1)').click();
    await page.getByText('was changed after the export').waitFor();
    expect(await pages.readRows('Edited here, too')).toHaveLength(1);
    await page.getByRole('link', { name: 'Show February 2007' }).click();
    await findRow(page, 'Edited').first().waitFor();
  });

  test('a large workbook is read under the policy of the page', async () => {
    // For more than 512 KB, the library that reads workbooks may start workers from text, which the policy forbids.
    const rows = Array.from({ length: 12_000 }, (_, n) => [
      { serial: 38_353 + (n % 28) },
      `Workbook row ${n}`,
      -n - 0.5,
    ]);
    const buffer = Buffer.from(createWorkbook({ Sheet: [['Date', 'Payee', 'Amount'], ...rows] }));
    const page = await pages.visit();
    const preview = await chooseFile(page, { name: 'large.xlsx', mimeType: '', buffer });
    await preview.getByText('12,000 new').waitFor();
  });

  test('after a reload in the middle of an import, the same file imports the rest', async () => {
    const page = await pages.visit();
    const file = createBankFile(makeLines(250, 'Reloaded row', 2017), 'again.csv');
    await chooseFile(page, file);
    let requests = 0;
    const { promise: isStopped, resolve: stop } = Promise.withResolvers<void>();
    await page.route('**/transactions/bulk', async (route) => {
      requests += 1;
      if (requests < 2) return await route.fallback();
      if (requests === 2) await route.fetch();
      stop();
      // A reload may have ended the request.
      await route.abort().catch(() => undefined);
    });
    await startImport(page);
    await isStopped;
    await page.reload();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const preview = await chooseFile(page, file);
    await preview.getByText('50 new, 200 already there').waitFor();
    await startImport(page);
    await page.getByText('50 imported').waitFor();
    expect(await pages.readRows('Reloaded row')).toHaveLength(250);
  });

  test('after an interrupted undo, the same file imports the deleted rows again', async () => {
    const page = await pages.visit();
    const file = createBankFile(makeLines(150, 'Undone row', 2003), 'undone.csv');
    await chooseFile(page, file);
    await startImport(page);
    await page.getByText('150 imported').waitFor();
    let requests = 0;
    const { promise: isStopped, resolve: stop } = Promise.withResolvers<void>();
    await page.route('**/transactions/bulk/delete', async (route) => {
      requests += 1;
      if (requests === 1) return await route.fallback();
      stop();
      // A reload may have ended the request.
      await route.abort().catch(() => undefined);
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await isStopped;
    await page.reload();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(await pages.readRows('Undone row')).toHaveLength(50);
    const preview = await chooseFile(page, file);
    await preview.getByText('100 new, 50 already there').waitFor();
    expect(await preview.getByText('Deleted earlier').count()).toBe(0);
  });

  test('the imports are listed, and each can be undone', async () => {
    const page = await pages.visit();
    await chooseFile(
      page,
      createBankFile(['02.01.2005;Row of a listed import;-4,00;'], 'listed.csv'),
    );
    await startImport(page);
    await page.getByText('1 imported').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Imports of this ledger' }).click();
    const undo = page.getByRole('button', { name: /^Undo .*listed\.csv/ });
    await undo.waitFor();
    await expectAccessible(page);
    await undo.click();
    await expect.poll(() => pages.readRows('Row of a listed import')).toEqual([]);
  });

  test('a file can be dropped anywhere on the page', async () => {
    const page = await pages.visit();
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['${HEADER}\\n02.01.2011;Dropped;-4,00;'], 'dropped.csv'));
      for (const type of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    })()`);
    const preview = page.getByRole('region', { name: 'Import preview' });
    await preview.getByText('1 new').waitFor();
  });
});
