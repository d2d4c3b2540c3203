// From a file into categories, and what is deleted by hand or taken back: `npm run import` as a person runs it, month after month.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { ApiResponse } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { serve } from '../support/api/served.ts';

const table = await createTestTable();
let folder: string;
let ledgers = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'categories-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Row {
  readonly id: number;
  readonly description: string;
  readonly category_name?: string;
}

/** A ledger of its own, and a person who imports into it. */
async function givenPerson() {
  ledgers += 1;
  const api = await openInProcess(createServiceOn({ ...table, ledgerId: `person-${ledgers}` }));
  const server = await serve(() => api);
  const run = (...args: string[]) =>
    runCommand('cli/ledger/import/import.ts', ['--url', server.url, ...args], {
      XDG_CONFIG_HOME: folder,
    });
  const write = async (name: string, lines: readonly string[]) => {
    const file = join(folder, `${ledgers}-${name}`);
    await writeFile(file, lines.join('\n'));
    return file;
  };
  const rows = async (): Promise<readonly Row[]> =>
    (await api.get('/transactions/export', { format: 'json' })).body.data;
  const categories = async () =>
    (await rows()).map(({ description, category_name }) => `${description}: ${category_name}`);
  const find = async (text: string): Promise<Row> => {
    const found = (await rows()).find(({ description }) => description === text);
    if (!found) throw new Error(`No row ${text}`);
    return found;
  };
  const close = (): Promise<unknown> => server.close();
  return { api, run, write, rows, categories, find, close };
}

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

const importIdIn = ({ stdout }: { readonly stdout: string }) =>
  /--undo (\S+) takes/.exec(stdout)?.[1] ?? '';

describe('categories', () => {
  it('are those of the ledger whatever their case, and are learned, shown and set', async () => {
    const person = await givenPerson();
    await person.run(await person.write('january.csv', JANUARY), '--yes');
    expect(await person.categories()).toEqual([
      'POS 1234 GROCER MAIN ST 05.01: Food',
      'POS 9876 GROCER MAIN ST 12.01: Food',
      'ACME PAYROLL 1: undefined',
    ]);
    const file = await person.write('february.csv', FEBRUARY);
    const { stdout } = await person.run(file);
    expect(stdout).toContain('categories: 1 as earlier rows, 0 by rules, 2 open');
    expect(stdout).toMatch(/line 2: "POS 5555 .*" is Food, as 2 earlier rows with "/);
    expect(stdout).toContain('open, unless --rules FILE has a line such as text = Category:');
    // The advice of the message.
    const rules = await person.write('rules.txt', ['cinema = fun', '/^barber$/ = Hair']);
    const ruled = await person.run(file, '--rules', rules, '--yes');
    expect(ruled).toMatchObject({ code: 0, stdout: expect.stringContaining('3 created') });
    expect(ruled.stdout).toContain('new categories: fun, Hair');
    expect((await person.categories()).slice(3)).toEqual([
      'POS 5555 GROCER MAIN ST 05.02: Food',
      'CINEMA: fun',
      'BARBER: Hair',
    ]);
    await person.close();
  });

  it('are not learned with --no-categories, and offered again by --categorise', async () => {
    const person = await givenPerson();
    await person.run(await person.write('january.csv', JANUARY), '--yes');
    const file = await person.write('february.csv', FEBRUARY);
    await person.run(file, '--no-categories', '--yes');
    const before = await person.categories();
    expect(before[3]).toBe('POS 5555 GROCER MAIN ST 05.02: undefined');
    const shown = await person.run('--categorise');
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Add --yes') });
    expect(await person.categories()).toEqual(before);
    const set = await person.run('--categorise', '--yes');
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('1 row categorised') });
    expect((await person.categories())[3]).toBe('POS 5555 GROCER MAIN ST 05.02: Food');
    await person.close();
  });

  it('come from rules, where no earlier row is alike', async () => {
    const person = await givenPerson();
    await person.run(await person.write('february.csv', FEBRUARY), '--yes');
    const { stdout } = await person.run('--categorise');
    expect(stdout).toContain('3 rows without a category, none of them like earlier rows.');
    expect(stdout).toContain('--rules FILE, one a line: text = Category.');
    const rules = await person.write('rules.txt', ['a = All']);
    const set = await person.run('--categorise', '--rules', rules, '--yes');
    expect(set.stdout).toContain('3 rows categorised, 0 refused');
    expect((await person.run('--categorise')).stdout).toContain('Every row of the ledger has a');
    await person.close();
  });

  it('that are inactive are named, and made active as the message says', async () => {
    const person = await givenPerson();
    const { body } = await person.api.post('/categories', { name: 'Food', is_active: false });
    const file = await person.write('january.csv', JANUARY);
    const { stdout } = await person.run(file);
    expect(stdout).toContain(
      'the category "Food" is inactive: 2 rows would be refused. Make it active first, or leave categories out with --category none.',
    );
    const without = await person.run(file, '--category', 'none');
    expect(without.stdout).not.toContain('inactive');
    await person.api.put(`/categories/${body.data.id}`, { is_active: true });
    const imported = await person.run(file, '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('3 created') });
    await person.close();
  });

  it.each([
    [['--rules', 'missing.txt'], 'The rules in missing.txt cannot be used: ENOENT'],
    [['--list'], '--categorise'],
  ])('%j is refused with the reason', async (options, message) => {
    const person = await givenPerson();
    const { code, stderr } = await person.run('--categorise', ...options);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    await person.close();
  });
});

describe('rows that were deleted by hand', () => {
  it('stay deleted when a file brings them again, unless they are asked for', async () => {
    const person = await givenPerson();
    const file = await person.write('february.csv', FEBRUARY);
    await person.run(file, '--yes');
    const { id } = await person.find('CINEMA');
    await person.api.delete(`/transactions/${id}`);
    const again = await person.run(file, '--yes');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('0 created') });
    expect(again.stdout).toContain('deleted meanwhile (1), imported with --import-deleted:');
    expect(await person.rows()).toHaveLength(2);
    // The advice of the message.
    const asked = await person.run(file, '--import-deleted', '--yes');
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('1 created') });
    expect(await person.rows()).toHaveLength(3);
    await person.close();
  });
});

describe('--undo', () => {
  it('takes back rows that only a category was added to, and leaves edited ones', async () => {
    const person = await givenPerson();
    const file = await person.write('february.csv', FEBRUARY);
    const id = importIdIn(await person.run(file, '--yes'));
    const { body }: ApiResponse = await person.api.post('/categories', { name: 'Fun' });
    const cinema = await person.find('CINEMA');
    await person.api.put(`/transactions/${cinema.id}`, { category_id: body.data.id });
    const barber = await person.find('BARBER');
    await person.api.put(`/transactions/${barber.id}`, { notes: 'With tip' });
    const undone = await person.run('--undo', id, '--yes');
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('2 removed, 1 left') });
    expect((await person.rows()).map(({ description }) => description)).toEqual(['BARBER']);
    // What an undo has removed was not deleted by hand.
    const again = await person.run(file, '--yes');
    expect(again.stdout).toContain('2 created, 1 were there already');
    await person.close();
  });

  it('of an import whose rows are all deleted brings them back with the next file', async () => {
    const person = await givenPerson();
    const file = await person.write('february.csv', FEBRUARY);
    const id = importIdIn(await person.run(file, '--yes'));
    for (const row of await person.rows()) await person.api.delete(`/transactions/${row.id}`);
    expect((await person.run('--undo', id, '--yes')).stdout).toContain('0 removed, 0 left');
    expect((await person.run(file, '--yes')).stdout).toContain('3 created');
    expect((await person.run('--undo', 'unknown', '--yes')).code).toBe(1);
    await person.close();
  });
});
