// `npm run import` with an API key, as a person runs it, and `npm run seed`. tests/shared/deployed/functions.test.ts imports to a
// stage.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import type { Scope } from '../../../lib/ledger/domain/api-key.ts';
import { type CommandResult, runCommand } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { serve } from '../support/api/serve.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';

const BANK = ['date,name,amount,category', '2026-03-05,Tea,-3,Food', '2026-03-06,Pay,2500,'];

const table = await createTestTable();
const api = await openInProcess(createServiceOn({ ...table, ledgerId: undefined }));
const server = await serve(() => api);
const keys = createTestKeys(table);
let folder: string;
let file: string;
let ledgerCount = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'));
  file = join(folder, 'bank.csv');
  await writeFile(file, BANK.join('\n'));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/** Creates a ledger with an API key. */
async function givenLedger(scope: Scope = 'write') {
  ledgerCount += 1;
  const ledgerId = `ledger-${ledgerCount}`;
  const { secret } = await keys.create({ name: 'test', ledger: ledgerId, scope });
  const ledger = openLedger({ ...table, ledgerId, timeZone: 'UTC' });
  return { ledger, environment: { API_KEY: secret } };
}

const run = (environment: NodeJS.ProcessEnv, program: string, ...args: string[]) =>
  runCommand(`cli/ledger/${program}`, args, { ...environment, XDG_CONFIG_HOME: folder });

const importFile = (environment: NodeJS.ProcessEnv, ...options: string[]) =>
  run(environment, 'import/import.ts', file, ...options);

/** Creates a ledger. @returns functions that import the statement into it, and read it */
async function givenImport() {
  const { ledger, environment } = await givenLedger();
  const importWith = (...options: string[]) =>
    importFile(environment, '--url', server.url, ...options);
  /** Exports the ledger as a client does. */
  const exportLedger = async () => {
    const headers = { authorization: `Bearer ${environment.API_KEY}` };
    return (await api.request('GET', '/transactions/export', { headers })).text;
  };
  const readRows = async () => (await ledger.transactions.readExportPart(EVERYTHING)).items;
  return { ledger, environment, importWith, exportLedger, readRows };
}

/** Replaces the statement until the test ends. */
async function writeStatement(content: string | Uint8Array): Promise<void> {
  onTestFinished(() => writeFile(file, BANK.join('\n')));
  await writeFile(file, content);
}

async function listDescriptions({ transactions }: ReturnType<typeof openLedger>) {
  const { items } = await transactions.readExportPart(EVERYTHING);
  return items.map(({ description }) => description);
}

describe('npm run import', () => {
  it('sends nothing without --yes, and with it imports into the ledger of the key', async () => {
    const { ledger, environment, importWith } = await givenImport();
    const preview = await importWith();
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringContaining('--yes') });
    expect(await listDescriptions(ledger)).toEqual([]);
    const imported = await importFile(environment, '--url', `${server.url}/`, '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
    expect(await listDescriptions(ledger)).toEqual(['Tea', 'Pay']);
  });

  it.each([
    ['no key', async () => ({}), 401],
    ['a read-only key', async () => (await givenLedger('read')).environment, 403],
  ])('exits with 1 and names the status for %s', async (_, environment, status) => {
    const result = await importFile(await environment(), '--url', server.url, '--yes');
    const stderr = expect.stringContaining(`answered ${status}`);
    expect(result).toMatchObject({ code: 1, stderr });
    if (status === 401)
      expect(result.stderr).toContain('export API_KEY=$(npm run -s keys -- create --name my-key)');
  });

  it('shows the decimal sign, the order of dates, the sums and the rows already in the ledger', async () => {
    const { importWith } = await givenImport();
    await importWith('--yes');
    const newRows = ['2026-03-07,Bus,"-4,5",', '2026-03-08,Gift,.10,', '2026-03-09,Gift,0.10,'];
    await writeStatement([...BANK, ...newRows, '2026-03-09,Gift,0.20,'].join('\n'));
    const preview = await importWith();
    expect(preview.stdout.split('\n').slice(-6)).toEqual([
      'decimal sign: point',
      'date order: ymd',
      '5 rows from 2026-03-05 to 2026-03-09: 4 income (2500.4), 1 expense (3)',
      '2 rows already exist, 3 are new',
      'Nothing was sent. Add --yes to import.',
      '',
    ]);
    expect(preview.stderr).toMatch(/^line 4 refused: .*\n4 of 5 rows would be income\. /);
    expect(preview.code).toBe(1);
    // With another account, the same rows count as new.
    const otherAccount = await importWith('--account', 'Card');
    expect(otherAccount.stdout).toContain('0 rows already exist');
  });

  it('shows the whole command if npm consumed --yes, as in "npm run import bank.csv --yes"', async () => {
    const { environment } = await givenImport();
    await writeStatement(BANK.join('\n'));
    const { stdout } = await importFile(
      { ...environment, npm_config_yes: 'true' },
      '--url',
      server.url,
    );
    expect(stdout).toMatch(
      /\nNothing was sent\. npm took --yes for itself\. To import: npm run import -- \S+ --yes\n$/,
    );
  });

  it('shows how it read the file, and what it ignores', async () => {
    const { importWith } = await givenImport();
    const lines = ['Girokonto;DE12', 'Datum;Text;Saldo;Soll;Haben', '05.03.2026;Bäcker;7,00;3,20;'];
    const refund = '06.03.2026;Bäcker;9,00;;2,00';
    await writeStatement(Buffer.from([...lines, refund, 'Stand;heute'].join('\r\n'), 'latin1'));
    const { stdout, stderr } = await importWith();
    expect(stdout.split('\n').slice(0, -5)).toEqual([
      'encoding: windows-1252',
      'header: line 2',
      'date: column "Datum"',
      'description: column "Text"',
      'debit: column "Soll"',
      'credit: column "Haben"',
      'ignored: column "Saldo"',
      'first rows, as they would be imported:',
      '  line 3: 2026-03-05 expense 3.2 "Bäcker"',
      '  line 4: 2026-03-06 income 2 "Bäcker"',
      'decimal sign: comma',
    ]);
    expect(stderr).toBe(
      'line 5 refused: It has 2 cells, the header 5.\nIf every export from this bank ends with these lines, add --trailer 1.\n',
    );
    expect(await importWith('--yes', '--trailer', '2')).toMatchObject({ code: 1, stdout: '' });
    const imported = await importWith('--yes', '--trailer', '1');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
    expect(imported.stdout).toContain('left out after the rows: 1 lines');
  });

  const TYPE_OPTIONS = ['--income', 'CR', '--expense', 'DR', '--expense', 'Fee'];

  it.each<[what: string, lines: string[], options: string[], result: Partial<CommandResult>]>([
    [
      'names rows with the same id, and imports the others',
      ['date,name,amount,Id', '2026-03-05,Tea,-3,A', '2026-03-05,Tee,-3,A', '2026-03-06,Bus,-2,B'],
      ['--id', 'Id', '--yes'],
      { code: 1, stdout: '1 created, 0 already existed, 2 refused', stderr: 'line 2 refused' },
    ],
    [
      'accepts other words for income and expense',
      ['date,name,amount,type', '2026-03-05,Tea,3,DR', '2026-03-06,Pay,-9,CR'],
      TYPE_OPTIONS,
      { code: 0, stdout: '1 income (9), 1 expense (3)' },
    ],
    [
      'accepts inverted signs',
      ['date,name,amount,type', '2026-03-05,Tea,3,DR', '2026-03-06,Pay,-9,CR'],
      ['--type', 'none', '--invert'],
      { code: 0, stdout: '1 income (9), 1 expense (3)' },
    ],
    [
      'imports nothing from an empty table',
      ['date,name,amount', ''],
      ['--yes'],
      { code: 0, stderr: '' },
    ],
    [
      'prints nothing that could control the terminal',
      ['Date,Payee,Amount,Category', '2026-01-01,a,-1,"\u001b[31mRed', 'x"'],
      [],
      { code: 0, stdout: 'new categories: \ufffd[31mRed\ufffdx\n' },
    ],
  ])('%s', async (_, lines, options, { code, stdout = '', stderr = '' }) => {
    const { importWith } = await givenImport();
    await writeStatement(lines.join('\n'));
    expect(await importWith(...options)).toEqual({
      code,
      stdout: expect.stringContaining(stdout),
      stderr: expect.stringContaining(stderr),
    });
  });

  it('reports in one sentence that a file does not exist', async () => {
    const result = await run({}, 'import/import.ts', 'nosuch.csv');
    const stderr = 'The file nosuch.csv cannot be read: it does not exist.\n';
    expect(result).toMatchObject({ code: 1, stderr });
  });

  it('imports or leaves out possible duplicates only with an option', async () => {
    const { ledger, importWith } = await givenImport();
    await importWith('--yes');
    const newRows = ['2026-03-05,Green tea,-3,Food', '2026-03-07,Bus,-2,'];
    await writeStatement([...BANK, ...newRows].join('\n').replace('Tea', 'tea'));
    const refused = await importWith('--yes');
    const stdout = expect.stringContaining('possible duplicates (1)');
    expect(refused).toMatchObject({ code: 1, stdout });
    for (const option of ['--skip-duplicates', '--import-duplicates'])
      expect(refused.stderr).toContain(option);
    expect(await listDescriptions(ledger)).toEqual(['Tea', 'Pay']);
    const skipped = await importWith('--yes', '--skip-duplicates');
    expect(skipped.stdout).toContain('2 created, 1 already existed, 0 refused');
    const imported = await importWith('--yes', '--import-duplicates');
    expect(imported.stdout).toContain('1 created, 3 already existed, 0 refused');
    expect(await listDescriptions(ledger)).toEqual(['Tea', 'Green tea', 'tea', 'Pay', 'Bus']);
  });

  it('applies the changes of an edited export, except to rows that were changed since', async () => {
    const { ledger, importWith, exportLedger, readRows } = await givenImport();
    await importWith('--yes');
    const edited = (await exportLedger())
      .replace(',Tea,3,expense,Food,,', ',Mint,4,expense,Drinks,,')
      .replace(',Pay,', ',"Mint, too",');
    await writeStatement(edited.replace('2026-03-06', '2026-03-16'));
    const ignored = await importWith('--yes');
    expect(ignored).toMatchObject({ code: 1, stdout: expect.stringContaining('--update') });
    expect(ignored.stdout).toContain('"Tea" to "Mint", amount 3 to 4, category "Food" to "Drinks"');
    expect(await listDescriptions(ledger)).toEqual(['Tea', 'Pay']);
    const [, pay] = await readRows();
    if (!pay) throw new Error('There is no such transaction');
    await ledger.transactions.update(pay, { notes: 'Edited meanwhile' });
    expect(await importWith('--yes', '--update')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 changed\n0 created, 0 already existed, 1 refused'),
      stderr: expect.stringContaining('line 3 refused: transaction'),
    });
    expect(await readRows()).toMatchObject([
      { description: 'Mint', amount: 4, categoryName: 'Drinks', date: '2026-03-05' },
      { description: 'Pay', date: '2026-03-06', notes: 'Edited meanwhile' },
    ]);
  });

  it('creates a deleted row of an export again only with --import-deleted', async () => {
    const { ledger, importWith, exportLedger, readRows } = await givenImport();
    await importWith('--yes');
    await writeStatement(await exportLedger());
    const [tea] = await readRows();
    await ledger.transactions.remove(String(tea?.id));
    const skipped = await importWith('--yes');
    expect(skipped).toMatchObject({ code: 1, stdout: expect.stringContaining('--import-deleted') });
    expect(skipped.stdout).toContain('deleted in the ledger (1)');
    expect(skipped.stdout).toContain(
      `  line 2: transaction ${tea?.id}: 2026-03-05 expense 3 "Tea"`,
    );
    expect(await listDescriptions(ledger)).toEqual(['Pay']);
    const restored = await importWith('--yes', '--import-deleted');
    expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining('%') });
    expect(await listDescriptions(ledger)).toEqual(['Tea', 'Pay']);
    // Nothing is left to import, so no progress is shown.
    expect(await importWith('--yes')).toMatchObject({ code: 0, stderr: '' });
  });

  it('undoes an import, except for rows that were edited since', async () => {
    const { ledger, environment, importWith, readRows } = await givenImport();
    const runImport = (...options: string[]) =>
      run(environment, 'import/import.ts', '--url', server.url, ...options);
    expect((await runImport('--list')).stdout).toBe('The ledger has no imports.\n');
    const { stdout } = await importWith('--yes');
    const id = /^import (\S+): /m.exec(stdout)?.[1] ?? '';
    expect(id).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-bank\.csv$/);
    expect((await importWith('--yes')).stdout).not.toContain('import 2');
    const [tea] = await readRows();
    if (!tea) throw new Error('There is no such transaction');
    await ledger.transactions.update(tea, { notes: 'Edited' });
    const { description, amount, type, categoryId, date, notes } = tea;
    const manualRow = { description, amount, type, categoryId, date, notes };
    await ledger.transactions.create({ ...manualRow, description: 'By hand' });
    expect((await runImport('--list')).stdout).toBe(
      `${id}: 2 rows from 2026-03-05 to 2026-03-06, 1 edited since\n`,
    );
    const preview = await runImport('--undo', id);
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringContaining('Add --yes') });
    expect(await listDescriptions(ledger)).toHaveLength(3);
    const undone = await runImport('--undo', id, '--yes');
    expect(undone.stdout).toMatch(
      /transaction \d+: 2026-03-05 expense 3 "Tea".*\n1 removed, 1 left\n/,
    );
    expect(await listDescriptions(ledger)).toEqual(['Tea', 'By hand']);
    expect(await runImport('--undo', 'nosuch')).toMatchObject({ code: 1 });
  });

  it.each([
    [[], 'Name a file'],
    [['--list', 'bank.csv'], '--list takes no file'],
    [['--undo', 'x', 'bank.csv'], '--undo takes no file'],
    [['--undo', ''], '--undo takes the id of an import'],
    [['--undo', 'x', '--update'], '--undo does nothing with --update'],
    [['--list', '--undo', 'x'], 'does nothing with --'],
    [['bank.csv', '--forget', '--yes'], '--forget does nothing with --yes'],
    [['bank.csv', '--stage', 'a b'], '--stage'],
    [['bank.csv', '--stage', 'dev', '--url', 'http://localhost:3000'], '--stage'],
  ])('exits with 2 for the options %j', async (options, stderr) => {
    const result = await run({}, 'import/import.ts', ...options);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(stderr) });
  });
});

it('npm run seed fills the ledger of the API key', async () => {
  const { ledger, environment } = await givenLedger();
  const args = ['--url', server.url, '--transactions', '1'];
  expect(await run(environment, 'seed/seed.ts', ...args)).toMatchObject({ code: 0 });
  expect(await listDescriptions(ledger)).toHaveLength(1);
  expect((await run({}, 'seed/seed.ts', '--help')).stdout).toContain('API_KEY');
});
