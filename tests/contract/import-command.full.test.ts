// `npm run import` with a key, as a person runs it: to the address of a service, and to a deployed stage. And `npm run seed`.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openLedger } from '../../cli/open-ledger.ts';
import { createApiKeys } from '../../lib/auth/api-keys.ts';
import type { Scope } from '../../lib/auth/caller.ts';
import { CSV_COLUMNS } from '../../lib/http/transaction-csv.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/retry.ts';
import { createDatabase } from '../../lib/store/database.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { serve } from '../support/api/served.ts';
import { type Ended, runCommand } from '../support/command.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';
import { listen } from '../support/loopback.ts';
import { createTestTable } from '../support/test-table.ts';

const PROGRESS = expect.stringContaining('%');
const BANK = ['date,name,amount,category', '2026-03-05,Tea,-3,Food', '2026-03-06,Pay,2500,'];

const table = await createTestTable();
const api = await openInProcess(createServiceOn({ ...table, ledgerId: undefined }));
const server = await serve(() => api);
const keys = createApiKeys({
  database: createDatabase({ ...table, retryPolicy: DEFAULT_RETRY_POLICY }),
  clock: () => new Date(),
});
let folder: string;
let file: string;
let ledgers = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'));
  file = join(folder, 'bank.csv');
  await writeFile(file, BANK.join('\n'));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/** A ledger of its own, with a key. */
async function givenLedger(scope: Scope = 'write') {
  ledgers += 1;
  const ledgerId = `ledger-${ledgers}`;
  const { secret } = await keys.create({ name: 'test', ledger: ledgerId, scope });
  const ledger = openLedger({ ...table, ledgerId, timeZone: 'UTC' });
  return { ledger, environment: { API_KEY: secret } };
}

const run = (environment: NodeJS.ProcessEnv, program: string, ...args: string[]) =>
  runCommand(`cli/${program}`, args, environment);

const importFile = (environment: NodeJS.ProcessEnv, ...options: string[]) =>
  run(environment, 'import/import.ts', file, ...options);

async function descriptionsIn({ transactions }: ReturnType<typeof openLedger>) {
  const { items } = await transactions.readExportPart(EVERYTHING);
  return items.map(({ description }) => description);
}

describe('--url', () => {
  it('sends nothing without --yes, and with it imports into the ledger of the key', async () => {
    const { ledger, environment } = await givenLedger();
    const shown = await importFile(environment, '--url', server.url);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('--yes') });
    expect(await descriptionsIn(ledger)).toEqual([]);
    const imported = await importFile(environment, '--url', `${server.url}/`, '--yes');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'Pay']);
  });

  it.each([
    ['no key', async () => ({}), 401],
    ['an unknown key', async () => ({ API_KEY: `fl_${'A'.repeat(43)}` }), 401],
    ['a key that may only read', async () => (await givenLedger('read')).environment, 403],
  ])('ends with 1 and the status for %s', async (_, environment, status) => {
    const ended = await importFile(await environment(), '--url', server.url, '--yes');
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`answered ${status}`),
    });
  });

  it('says how to get a key where one is required', async () => {
    const { stderr } = await importFile({}, '--url', server.url);
    expect(stderr).toContain('export API_KEY=$(npm run -s keys -- create --name my-key)');
  });

  it('shows the decimal sign, the order of dates, the sums and what is there already', async () => {
    const { environment } = await givenLedger();
    await importFile(environment, '--url', server.url, '--yes');
    const more = ['2026-03-07,Bus,"-4,5",', '2026-03-08,Gift,.10,', '2026-03-09,Gift,0.10,'];
    await writeFile(file, [...BANK, ...more, '2026-03-09,Gift,0.20,'].join('\n'));
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const shown = await importFile(environment, '--url', server.url);
    expect(shown.stdout.split('\n').slice(-6)).toEqual([
      'decimal sign: point',
      'date order: ymd',
      '4 rows from 2026-03-05 to 2026-03-09: 3 income (2500.3), 1 expense (3)',
      '2 rows are there already, 2 are new',
      'Nothing was sent. Add --yes to import.',
      '',
    ]);
    expect(shown.stderr).toMatch(/^line 4 refused: .*\nline 5 refused: /);
    expect(shown.code).toBe(1);
    // Rows of another account.
    const other = await importFile(environment, '--url', server.url, '--account', 'Card');
    expect(other.stdout).toContain('0 rows are there already');
  });

  it('says how it has read the file, and what it ignores', async () => {
    const { environment } = await givenLedger();
    const lines = ['Girokonto;DE12', 'Datum;Text;Saldo;Soll;Haben', '05.03.2026;Bäcker;7,00;3,20;'];
    const refund = '06.03.2026;Bäcker;9,00;;2,00';
    await writeFile(file, Buffer.from([...lines, refund, 'Ende'].join('\r\n'), 'latin1'));
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const { stdout, stderr } = await importFile(environment, '--url', server.url);
    expect(stdout.split('\n').slice(0, -5)).toEqual([
      ...['encoding: ISO-8859-1 (Windows-1252)', 'header: line 2', 'date: column "Datum"'],
      ...['description: column "Text"', 'debit: column "Soll"', 'credit: column "Haben"'],
      ...['ignored: column "Saldo"', 'first rows, as they would be imported:'],
      ...['  line 3: 2026-03-05 expense 3.2 "Bäcker"', '  line 4: 2026-03-06 income 2 "Bäcker"'],
      'decimal sign: comma',
    ]);
    expect(stderr).toBe(
      'line 5 refused: It has 1 cell, the header 5.\nIf the bank always ends its files so, add --trailer 1.\n',
    );
    const importWith = (lines: string) =>
      importFile(environment, '--url', server.url, '--yes', '--trailer', lines);
    expect(await importWith('2')).toMatchObject({ code: 1, stdout: '' });
    const imported = await importWith('1');
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
    expect(imported.stdout).toContain('left out after the rows: 1 lines');
  });

  const REFUND = ['2026-03-05,Tea,3,DR', '2026-03-06,Pay,-9,CR'];
  const WORDS = ['--income', 'CR', '--expense', 'DR', '--expense', 'Fee'];

  it.each<[what: string, lines: string[], options: string[], ended: Partial<Ended>]>([
    [
      'rows with one id are named, and the others imported',
      [
        'date,name,amount,Account',
        '2026-03-05,Tea,-3,Giro',
        '2026-03-06,Pay,9,Giro',
        '2026-03-06,Bus,-2,Card',
      ],
      ['--id', 'Account', '--yes'],
      { code: 1, stdout: '1 created, 0 were there already, 2 refused', stderr: 'line 2 refused' },
    ],
    [
      'other words for income and expense',
      ['date,name,amount,type', ...REFUND],
      WORDS,
      { code: 0, stdout: '1 income (-9), 1 expense (3)' },
    ],
    [
      'other signs',
      ['date,name,amount,type', ...REFUND],
      ['--type', 'none', '--invert'],
      { code: 0, stdout: '1 income (9), 1 expense (3)' },
    ],
    ['nothing', ['date,name,amount', ''], ['--yes'], { code: 0, stderr: '' }],
    [
      'nothing that could control the terminal is printed',
      ['Date,Payee,Amount,Category', '2026-01-01,a,-1,"\u001b[31mRed', 'x"'],
      [],
      { code: 0, stdout: 'new categories: \ufffd[31mRed\ufffdx\n' },
    ],
  ])('%s', async (_, lines, options, { code, stdout = '', stderr = '' }) => {
    const { environment } = await givenLedger();
    await writeFile(file, lines.join('\n'));
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    expect(await importFile(environment, '--url', server.url, ...options)).toEqual({
      code,
      stdout: expect.stringContaining(stdout),
      stderr: expect.stringContaining(stderr),
    });
  });

  it('says in a sentence that there is no such file', async () => {
    const ended = await run({}, 'import/import.ts', 'nosuch.csv');
    const stderr = 'The file nosuch.csv cannot be read: it does not exist.\n';
    expect(ended).toMatchObject({ code: 1, stderr });
  });

  it('imports possible duplicates, or leaves them out, only when it is told so', async () => {
    const { ledger, environment } = await givenLedger();
    const importWith = (...options: string[]) =>
      importFile(environment, '--url', server.url, '--yes', ...options);
    await importWith();
    const rows = ['2026-03-05,Green tea,-3,Food', '2026-03-07,Bus,-2,'];
    await writeFile(file, [...BANK, ...rows].join('\n').replace('Tea', 'tea'));
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const refused = await importWith();
    expect(refused).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('possible duplicates (1)'),
    });
    for (const option of ['--skip-duplicates', '--import-duplicates'])
      expect(refused.stderr).toContain(option);
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'Pay']);
    const skipped = await importWith('--skip-duplicates');
    expect(skipped.stdout).toContain('2 created, 1 were there already, 0 refused');
    const imported = await importWith('--import-duplicates');
    expect(imported.stdout).toContain('1 created, 3 were there already, 0 refused');
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'Green tea', 'tea', 'Pay', 'Bus']);
  });

  it('applies the changes of an edited export, and refuses those of rows changed since', async () => {
    const { ledger, environment } = await givenLedger();
    await importFile(environment, '--url', server.url, '--yes');
    const edit = async (description: string) => {
      const headers = { authorization: `Bearer ${environment.API_KEY}` };
      const exported = await api.request('GET', '/transactions/export', { headers });
      const edited = exported.text
        .replace(',Tea,3,expense,Food,,', `,${description},4,expense,Drinks,,`)
        .replace(',Pay,', `,"${description}, too",`);
      await writeFile(file, edited.replace('2026-03-06', '2026-03-16'));
    };
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    await edit('Mint');
    const ignored = await importFile(environment, '--url', server.url, '--yes');
    expect(ignored).toMatchObject({ code: 1, stdout: expect.stringContaining('--update') });
    expect(ignored.stdout).toContain('"Tea" to "Mint", amount 3 to 4, category "Food" to "Drinks"');
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'Pay']);
    const [, pay] = (await ledger.transactions.readExportPart(EVERYTHING)).items;
    if (!pay) throw new Error('There is no such transaction');
    await ledger.transactions.update(pay, { notes: 'Edited meanwhile' });
    const updated = await importFile(environment, '--url', server.url, '--yes', '--update');
    expect(updated).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 changed\n0 created, 0 were there already, 1 refused'),
      stderr: expect.stringContaining('line 3 refused: transaction'),
    });
    const { items } = await ledger.transactions.readExportPart(EVERYTHING);
    expect(items).toMatchObject([
      { description: 'Mint', amount: 4, categoryName: 'Drinks', date: '2026-03-05' },
      { description: 'Pay', date: '2026-03-06', notes: 'Edited meanwhile' },
    ]);
  });

  it('makes a row of an export again that was deleted since only when it is told so', async () => {
    const { ledger, environment } = await givenLedger();
    await importFile(environment, '--url', server.url, '--yes');
    const headers = { authorization: `Bearer ${environment.API_KEY}` };
    const exported = await api.request('GET', '/transactions/export', { headers });
    await writeFile(file, exported.text);
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const [tea] = (await ledger.transactions.readExportPart(EVERYTHING)).items;
    await ledger.transactions.remove(String(tea?.id), () => true);
    const importWith = (...options: string[]) =>
      importFile(environment, '--url', server.url, '--yes', ...options);
    const left = await importWith();
    expect(left).toMatchObject({ code: 1, stdout: expect.stringContaining('--import-deleted') });
    expect(left.stdout).toContain('deleted meanwhile (1)');
    expect(left.stdout).toContain(`  line 2: transaction ${tea?.id}: 2026-03-05 expense 3 "Tea"`);
    expect(await descriptionsIn(ledger)).toEqual(['Pay']);
    expect(await importWith('--import-deleted')).toMatchObject({ code: 0, stderr: PROGRESS });
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'Pay']);
    // Nothing is left to do, and no progress to show.
    expect(await importWith()).toMatchObject({ code: 0, stderr: '' });
  });

  it('names the rows of an inactive category, and imports the others', async () => {
    const { ledger, environment } = await givenLedger();
    const fields = { name: 'Old', description: null, color: null, isActive: false };
    await ledger.categories.create(fields);
    const csv = [
      CSV_COLUMNS.join(),
      '1,2026-03-05,Tea,3,expense,Old,,,,',
      '2,2026-03-06,Pay,2500,income,,,,,',
    ];
    await writeFile(file, csv.join('\r\n'));
    const ended = await importFile(environment, '--url', server.url, '--yes');
    await writeFile(file, BANK.join('\n'));
    expect(ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 created, 0 were there already, 1 refused'),
      stderr: expect.stringContaining('line 2 refused'),
    });
    expect(await descriptionsIn(ledger)).toEqual(['Pay']);
  });

  it('takes an import back, but for rows that were edited since', async () => {
    const { ledger, environment } = await givenLedger();
    const take = (...options: string[]) =>
      run(environment, 'import/import.ts', '--url', server.url, ...options);
    expect((await take('--list')).stdout).toBe('The ledger has no imports.\n');
    const { stdout } = await importFile(environment, '--url', server.url, '--yes');
    const id = /^import (\S+): /m.exec(stdout)?.[1] ?? '';
    expect(id).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-bank\.csv$/);
    expect(await importFile(environment, '--url', server.url, '--yes')).toMatchObject({
      stdout: expect.not.stringContaining('import 2'),
    });
    const other = { type: 'expense', categoryId: null, notes: null } as const;
    await ledger.transactions.create({
      ...other,
      description: 'By hand',
      amount: 1,
      date: '2026-03-05',
      externalId: null,
    });
    const [tea] = (await ledger.transactions.readExportPart(EVERYTHING)).items;
    if (!tea) throw new Error('There is no such transaction');
    await ledger.transactions.update(tea, { notes: 'Edited' });
    expect((await take('--list')).stdout).toBe(
      `${id}: 2 rows from 2026-03-05 to 2026-03-06, 1 edited since\n`,
    );
    const shown = await take('--undo', id);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Add --yes') });
    expect(await descriptionsIn(ledger)).toHaveLength(3);
    const undone = await take('--undo', id, '--yes');
    expect(undone.stdout).toMatch(
      /transaction \d+: 2026-03-05 expense 3 "Tea".*\n1 removed, 1 left\n/,
    );
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'By hand']);
    expect(await take('--undo', 'nosuch')).toMatchObject({ code: 1 });
  });

  it.each([
    [[], 'Name a file'],
    [['--list', 'bank.csv'], '--list takes no file'],
    [['--undo', 'x', 'bank.csv'], '--undo takes no file'],
    [['--list', '--undo', 'x'], '--undo'],
  ])('ends with 2 for %j', async (options, stderr) => {
    const ended = await run({}, 'import/import.ts', ...options);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(stderr) });
  });
});

/** CloudFormation, which knows one stack. */
async function openCloudFormation(outputs: string) {
  const asked: (string | null)[] = [];
  const paths: (string | undefined)[] = [];
  const { url, close } = await listen(async (request, response) => {
    const parameters = new URLSearchParams(await text(request));
    paths.push(request.url);
    asked.push(parameters.get('Action'), parameters.get('StackName'));
    const stack = `<member><StackName>x</StackName><Outputs>${outputs}</Outputs></member>`;
    const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(`<DescribeStacksResponse>${result}</DescribeStacksResponse>`);
  });
  const environment = {
    AWS_ENDPOINT_URL: url,
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  };
  return { environment, asked, paths, close };
}

it('npm run seed fills the ledger of the key', async () => {
  const { ledger, environment } = await givenLedger();
  const args = ['--url', server.url, '--transactions', '1'];
  expect(await run(environment, 'seed/seed.ts', ...args)).toMatchObject({ code: 0 });
  expect(await descriptionsIn(ledger)).toHaveLength(1);
  expect((await run({}, 'seed/seed.ts', '--help')).stdout).toContain('API_KEY');
});

describe('--stage', () => {
  it('imports to the address that the stack of the stage names', async () => {
    const { ledger, environment } = await givenLedger();
    const output = `<OutputKey>HttpApiUrl</OutputKey><OutputValue>${server.url}</OutputValue>`;
    const aws = await openCloudFormation(`<member>${output}</member>`);
    const all = { ...environment, ...aws.environment };
    const ended = await importFile(all, '--stage', 'dev', '--yes').finally(aws.close);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
    expect(aws.asked).toEqual(['DescribeStacks', 'finance-ledger-dev']);
    expect(await descriptionsIn(ledger)).toEqual(['Tea', 'Pay']);
  });

  it('ends with 1 where the stack names no address', async () => {
    const aws = await openCloudFormation('');
    const ended = await importFile(aws.environment, '--stage', 'dev').finally(aws.close);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('HttpApiUrl') });
  });

  const onAws = 'https://abc123.execute-api.eu-west-1.amazonaws.com';
  const outputOnAws = `<member><OutputKey>HttpApiUrl</OutputKey><OutputValue>${onAws}</OutputValue></member>`;

  it('imports to the emulator on this machine where that names an address of AWS', async () => {
    const aws = await openCloudFormation(outputOnAws);
    const ended = await importFile(aws.environment, '--stage', 'dev', '--yes').finally(aws.close);
    expect(aws.paths.at(-1)).toBe('/_aws/execute-api/abc123/categories?active_only=false');
    // Here an emulator without a gateway.
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no JSON') });
  });

  it('is refused where AWS_ENDPOINT_URL may name a proxy of AWS', async () => {
    const aws = await openCloudFormation(outputOnAws);
    const environment = {
      ...aws.environment,
      AWS_ENDPOINT_URL_CLOUDFORMATION: aws.environment.AWS_ENDPOINT_URL,
      AWS_ENDPOINT_URL: 'https://proxy.example',
    };
    const ended = await importFile(environment, '--stage', 'dev', '--yes').finally(aws.close);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('AWS_ENDPOINT_URL') });
    expect(aws.asked).toEqual(['DescribeStacks', 'finance-ledger-dev']);
  });

  it('is refused where it cannot be the name of a stage', async () => {
    const ended = await importFile({}, '--stage', 'a b');
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--stage') });
  });

  it('goes with no address', async () => {
    const ended = await importFile({}, '--stage', 'dev', '--url', server.url);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--stage') });
  });
});
