// `npm run import` as a person runs it month after month: categories for the rows of a file, rows that the user deletes, and
// imports that are undone.
import { describe, expect, it } from 'vitest';
import { createTestTable } from '../../shared/support/test-table.ts';
import { toApiResponse } from '../support/api/api-client.ts';
import { findImportId, givenPerson } from '../support/import/person.ts';

const table = await createTestTable();

const JANUARY = [
  'date,description,amount,category',
  '2026-01-05,POS 1234 GROCER MAIN ST 05.01,-10.00,Food',
  '2026-01-12,POS 9876 GROCER MAIN ST 12.01,-12.00,food',
  '2026-01-15,ACME PAYROLL 1,2500.00,',
];
const FEBRUARY = [
  'date,description,amount',
  '2026-02-05,POS 5555 GROCER MAIN ST 05.02,-11.00',
  '2026-02-06,CINEMA,-9.00',
  '2026-02-07,BARBER,-20.00',
];

/** Lists each row of the ledger with its category. */
async function readCategories({ readRows }: Awaited<ReturnType<typeof givenPerson>>) {
  return (await readRows()).map(
    ({ description, category_name }) => `${description}: ${category_name}`,
  );
}

describe('categories', () => {
  it("match the ledger's regardless of case, and are learned, shown and set", async () => {
    const person = await givenPerson(table);
    await person.run(await person.write('january.csv', JANUARY), '--yes');
    expect(await readCategories(person)).toEqual([
      'POS 1234 GROCER MAIN ST 05.01: Food',
      'POS 9876 GROCER MAIN ST 12.01: Food',
      'ACME PAYROLL 1: undefined',
    ]);
    const file = await person.write('february.csv', FEBRUARY);
    const { stdout } = await person.run(file);
    expect(stdout).toContain('categories: 1 like earlier rows, 0 by rules, 2 without a category');
    expect(stdout).toMatch(/line 2: "POS 5555 .*" is Food, like 2 earlier rows with "/);
    expect(stdout).toContain(
      'without a category, unless --rules FILE has a line such as text = Category:',
    );
    // Follows the advice of the message.
    const rules = await person.write('rules.txt', ['cinema = fun', '/^barber$/ = Hair']);
    const imported = await person.run(file, '--rules', rules, '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('3 created') });
    expect(imported.stdout).toContain('new categories: fun, Hair');
    expect((await readCategories(person)).slice(3)).toEqual([
      'POS 5555 GROCER MAIN ST 05.02: Food',
      'CINEMA: fun',
      'BARBER: Hair',
    ]);
  });

  it('are not learned with --no-categories, and are suggested later by --categorise', async () => {
    const person = await givenPerson(table);
    await person.run(await person.write('january.csv', JANUARY), '--yes');
    const file = await person.write('february.csv', FEBRUARY);
    await person.run(file, '--no-categories', '--yes');
    const before = await readCategories(person);
    expect(before[3]).toBe('POS 5555 GROCER MAIN ST 05.02: undefined');
    const preview = await person.run('--categorise');
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringContaining('Add --yes') });
    expect(await readCategories(person)).toEqual(before);
    const applied = await person.run('--categorise', '--yes');
    expect(applied).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 row categorised'),
    });
    expect((await readCategories(person))[3]).toBe('POS 5555 GROCER MAIN ST 05.02: Food');
  });

  it('come from rules if no earlier row is similar', async () => {
    const person = await givenPerson(table);
    await person.run(await person.write('february.csv', FEBRUARY), '--yes');
    const { stdout } = await person.run('--categorise');
    expect(stdout).toContain('3 rows without a category, none of them like earlier rows.');
    expect(stdout).toContain('--rules FILE, one per line: text = Category.');
    const rules = await person.write('rules.txt', ['a = All']);
    const applied = await person.run('--categorise', '--rules', rules, '--yes');
    expect(applied.stdout).toContain('3 rows categorised, 0 refused');
    expect((await person.run('--categorise')).stdout).toContain('Every row of the ledger has a');
  });

  it('that are inactive are named in a message, and can be activated as it says', async () => {
    const person = await givenPerson(table);
    const { body } = await person.api.post('/categories', { name: 'Food', is_active: false });
    const file = await person.write('january.csv', JANUARY);
    const { stdout } = await person.run(file);
    expect(stdout).toContain(
      'the category "Food" is inactive: 2 rows would be refused. Make it active first, or leave categories out with --category none.',
    );
    const withoutCategories = await person.run(file, '--category', 'none');
    expect(withoutCategories.stdout).not.toContain('inactive');
    await person.api.put(`/categories/${body.data.id}`, { is_active: true });
    const imported = await person.run(file, '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('3 created') });
  });

  it.each([
    [['--rules', 'missing.txt'], 'The file missing.txt cannot be read: it does not exist'],
    [['--list'], '--categorise'],
  ])('are not set by --categorise with %j, and the error says why', async (options, message) => {
    const person = await givenPerson(table);
    const { code, stderr } = await person.run('--categorise', ...options);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});

describe('rows that the user deleted', () => {
  const MANY_ROWS = [
    'date,description,amount',
    ...Array.from({ length: 150 }, (_, n) => `2026-03-05,row ${n},-${n + 1}.00`),
  ];

  /** True for the requests with which an import reads the records of earlier imports and the rows of the ledger */
  const isRead = (request: string) =>
    ['GET /imports', 'GET /transactions/export'].includes(request);

  it.each([
    ['between two bulk requests', 'POST /transactions/bulk', 1, '50 created'],
    ['before the records of the next rows are written', 'PUT /imports', 1, '50 created'],
  ])(
    'stay deleted after an import that was interrupted %s',
    async (_, request, servedCount, output) => {
      const person = await givenPerson(table);
      const file = await person.write('march.csv', MANY_ROWS);
      expect(await person.runInterrupted(request, servedCount, file, '--yes')).toMatchObject({
        code: 1,
      });
      expect(await person.readRows()).toHaveLength(100);
      const repeat = async () => await person.run(file, '--yes');
      const deleteRow = async (text: string) =>
        person.api.delete(`/transactions/${(await person.findRow(text)).id}`);
      await deleteRow('row 7');
      expect(await repeat()).toMatchObject({ code: 1, stdout: expect.stringContaining(output) });
      await deleteRow('row 8');
      expect(await repeat()).toMatchObject({ stdout: expect.stringContaining('0 created') });
      const texts = (await person.readRows()).map(({ description }) => description);
      expect(texts).toHaveLength(148);
      for (const text of ['row 7', 'row 8']) expect(texts).not.toContain(text);
    },
  );

  it('do not include rows removed by undoing an import that was interrupted and repeated', async () => {
    const person = await givenPerson(table);
    const file = await person.write('march.csv', MANY_ROWS);
    await person.runInterrupted('PUT /imports', 1, file, '--yes');
    const [firstId] = (await person.run('--list')).stdout.split(':');
    // The last rows before the interruption get a category.
    const { body } = await person.api.post('/categories', { name: 'Food' });
    for (const text of ['row 98', 'row 99'])
      await person.api.put(`/transactions/${(await person.findRow(text)).id}`, {
        category_id: body.data.id,
      });
    const secondId = findImportId(await person.run(file, '--yes'));
    const undone = await person.run('--undo', firstId ?? '', '--yes');
    expect(undone.stdout).toContain('100 removed, 0 left');
    expect((await person.run('--undo', secondId, '--yes')).stdout).toContain('50 removed, 0 left');
    expect((await person.run(file, '--yes')).stdout).toContain('150 created');
  });

  it('stay deleted after an import that lost a response, and still reported all rows as created', async () => {
    const person = await givenPerson(table);
    const file = await person.write('march.csv', MANY_ROWS);
    let isLost = false;
    const imported = await person.runThrough(
      async (request, forward) => {
        const response = await forward();
        if (request !== 'POST /transactions/bulk' || isLost) return response;
        isLost = true;
        return toApiResponse(503, {}, '');
      },
      file,
      '--yes',
    );
    expect(imported.stdout).toContain('150 created, 0 already existed, 0 refused');
    await person.api.delete(`/transactions/${(await person.findRow('row 7')).id}`);
    expect((await person.run(file, '--yes')).stdout).toContain('0 created');
    const { body } = await person.api.post('/categories', { name: 'Food' });
    const { id } = await person.findRow('row 8');
    await person.api.put(`/transactions/${id}`, { category_id: body.data.id });
    const undone = await person.run('--undo', findImportId(imported), '--yes');
    expect(undone.stdout).toContain('149 removed, 0 left');
  });

  it('stay deleted if an interrupted import continues while the next one reads the ledger', async () => {
    const person = await givenPerson(table);
    const file = await person.write('march.csv', MANY_ROWS);
    let bulkRequests = 0;
    let continueImport: (() => Promise<unknown>) | undefined;
    await person.runThrough(
      async (request, forward) => {
        if (request === 'POST /transactions/bulk') bulkRequests += 1;
        if (bulkRequests < 2) return await forward();
        continueImport ??= forward;
        return await person.refuse();
      },
      file,
      '--yes',
    );
    expect(await person.readRows()).toHaveLength(100);
    await person.runThrough(
      async (request, forward) => {
        const response = await forward();
        if (!isRead(request)) return response;
        await continueImport?.();
        continueImport = undefined;
        return response;
      },
      file,
      '--yes',
    );
    await person.api.delete(`/transactions/${(await person.findRow('row 120')).id}`);
    expect((await person.run(file, '--yes')).stdout).toContain('0 created');
    expect(await person.readRows()).toHaveLength(149);
  });

  it('are still recorded after an interrupted import ends while the next one is planned', async () => {
    const person = await givenPerson(table);
    const file = await person.write('march.csv', MANY_ROWS);
    await person.runInterrupted('POST /transactions/bulk', 1, file, '--yes');
    const [part] = (await person.api.get('/imports')).body.data;
    const finishedPart = { ...part, rows: part.rows.filter((row: string) => row !== 'unsent') };
    expect(finishedPart.rows).toHaveLength(150);
    let readCount = 0;
    await person.runThrough(
      async (request, forward) => {
        const response = await forward();
        if (!isRead(request)) return response;
        readCount += 1;
        if (readCount === 2) await person.api.put('/imports', finishedPart);
        return response;
      },
      file,
      '--yes',
    );
    expect((await person.api.get('/imports')).body.data).toContainEqual(finishedPart);
  });

  it('do not include rows removed by undoing an import in several parts', async () => {
    const person = await givenPerson(table);
    const file = await person.write('march.csv', MANY_ROWS);
    const importId = findImportId(await person.run(file, '--yes'));
    await person.run('--undo', importId, '--yes');
    expect((await person.run(file, '--yes')).stdout).toContain('150 created');
  });

  it('stay deleted if a file contains them again, except with --import-deleted', async () => {
    const person = await givenPerson(table);
    const file = await person.write('february.csv', FEBRUARY);
    await person.run(file, '--yes');
    const { id } = await person.findRow('CINEMA');
    await person.api.delete(`/transactions/${id}`);
    const repeated = await person.run(file, '--yes');
    expect(repeated).toMatchObject({ code: 1, stdout: expect.stringContaining('0 created') });
    expect(repeated.stdout).toContain(
      'deleted in the ledger (1), imported only with --import-deleted:',
    );
    expect(await person.readRows()).toHaveLength(2);
    // Follows the advice of the message.
    const imported = await person.run(file, '--import-deleted', '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('1 created') });
    expect(await person.readRows()).toHaveLength(3);
  });
});

describe('--undo', () => {
  it('removes rows that only got a category, and keeps edited ones', async () => {
    const person = await givenPerson(table);
    const file = await person.write('february.csv', FEBRUARY);
    const id = findImportId(await person.run(file, '--yes'));
    const { body } = await person.api.post('/categories', { name: 'Fun' });
    const cinema = await person.findRow('CINEMA');
    await person.api.put(`/transactions/${cinema.id}`, { category_id: body.data.id });
    const barber = await person.findRow('BARBER');
    await person.api.put(`/transactions/${barber.id}`, { notes: 'With tip' });
    const undone = await person.run('--undo', id, '--yes');
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('2 removed, 1 left') });
    expect((await person.readRows()).map(({ description }) => description)).toEqual(['BARBER']);
    // Rows that an undo removed do not count as deleted by the user, so they are imported again.
    const repeated = await person.run(file, '--yes');
    expect(repeated.stdout).toContain('2 created, 1 already existed');
  });

  it('of an import whose rows are all deleted lets the next import create them again', async () => {
    const person = await givenPerson(table);
    const file = await person.write('february.csv', FEBRUARY);
    const id = findImportId(await person.run(file, '--yes'));
    for (const row of await person.readRows()) await person.api.delete(`/transactions/${row.id}`);
    expect((await person.run('--undo', id, '--yes')).stdout).toContain('0 removed, 0 left');
    expect((await person.run(file, '--yes')).stdout).toContain('3 created');
    expect((await person.run('--undo', 'unknown', '--yes')).code).toBe(1);
  });
});

describe('the layout of a file', () => {
  const CARD = ['Date,Text,Amount', '2026-01-05,Grocer,10.00', '2026-01-06,Cinema,9.00'];

  it('is remembered, shown, and forgotten on request', async () => {
    const person = await givenPerson(table);
    const file = await person.write('card.csv', CARD);
    const refused = await person.run(file, '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--invert') });
    const imported = await person.run(file, '--invert', '--yes');
    expect(imported.stdout).toMatch(
      /remembered in \S+import-layouts\.json for files of this layout \(--forget\): invert/i,
    );
    const next = await person.write('next.csv', [...CARD, '2026-01-07,Barber,20.00']);
    const importedNext = await person.run(next, '--yes');
    expect(importedNext.stdout).toContain('remembered: ');
    expect(importedNext).toMatchObject({ code: 0, stdout: expect.stringContaining('1 created') });
    // Follows the advice of the message.
    const forgotten = await person.run(next, '--forget');
    expect(forgotten.stdout).toContain('The layout is forgotten. Nothing was sent.');
    const afterForget = await person.run(next);
    expect(afterForget).toMatchObject({ code: 1, stderr: expect.stringContaining('--invert') });
    expect(afterForget.stdout).not.toContain('remembered: ');
  });

  it('is remembered separately in each layouts file, and an error names a damaged file', async () => {
    const person = await givenPerson(table);
    const file = await person.write('card.csv', CARD);
    const layouts = await person.write('layouts.json', ['{}']);
    await person.run(file, '--invert', '--yes', '--layouts', layouts);
    expect((await person.run(file, '--layouts', layouts)).stdout).toContain('remembered: ');
    expect((await person.run(file)).stdout).not.toContain('remembered: ');
    await person.write('layouts.json', ['{"cut']);
    const { code, stderr } = await person.run(file, '--layouts', layouts);
    expect(code).toBe(1);
    expect(stderr).toContain('Delete it, or name another with --layouts FILE');
    // Follows the advice of the message.
    expect((await person.run(file, '--layouts', `${layouts}.new`)).stdout).toContain('2 rows');
  });
});

it('options can name the columns of expenses and income', async () => {
  const person = await givenPerson(table);
  const file = await person.write('columns.csv', [
    'Date,Text,Ab,Auf',
    '2026-01-05,Grocer,10.00,',
    '2026-01-06,Pay,,20.00',
  ]);
  const refused = await person.run(file, '--yes');
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--debit COLUMN --credit COLUMN'),
  });
  // Follows the advice of the message.
  const imported = await person.run(file, '--debit', 'Ab', '--credit', 'Auf', '--yes');
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
});

describe('a file that shares a row with another account', () => {
  const [header, fee] = ['date,description,amount', '2026-01-06,Fee,-1.00'];
  const GIRO = [header, '2026-01-05,Grocer,-10.00', fee, '2026-01-07,Cinema,-9.00'];
  const CARD = [header, '2026-01-04,Rent,-900.00', fee, '2026-01-08,Pay,2500.00'];

  it('is refused until --account names its account, and then both rows are kept', async () => {
    const person = await givenPerson(table);
    await person.run(await person.write('giro.csv', GIRO), '--yes');
    const card = await person.write('card.csv', CARD);
    const refused = await person.run(card, '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--account NAME') });
    expect(await person.readRows()).toHaveLength(3);
    // Follows the advice of both messages.
    const result = await person.run(card, '--account', 'Card', '--yes');
    expect(result.stderr).toContain('--import-duplicates');
    const imported = await person.run(card, '--account', 'Card', '--import-duplicates', '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('3 created') });
    expect(await person.readRows()).toHaveLength(6);
  });
});

it('a duplicate in another format is left out even if its amount was edited in the ledger', async () => {
  const person = await givenPerson(table);
  await person.run(await person.write('january.csv', JANUARY), '--yes');
  const { id } = await person.findRow('POS 1234 GROCER MAIN ST 05.01');
  await person.api.put(`/transactions/${id}`, { amount: 8 });
  const qif = await person.write('january.qif', [
    ...['!Type:Bank', 'D2026-01-05', 'T-10.00', 'PGrocer', '^'],
    ...['D2026-01-12', 'T-12.00', 'PGrocer', '^'],
  ]);
  const { stdout } = await person.run(qif, '--skip-duplicates', '--yes');
  expect(stdout).toContain('possible duplicates left out: 2');
  expect(await person.readRows()).toHaveLength(3);
});
