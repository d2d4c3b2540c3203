// `npm run import` with a key, as a person runs it: to the address of a service, and to a deployed stage. And `npm run seed`.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
import { BARE_ENVIRONMENT } from '../support/bare-environment.ts';
import { createTestTable } from '../support/test-table.ts';

const COMMANDS = join(import.meta.dirname, '../../cli');
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

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function importFile(environment: NodeJS.ProcessEnv, ...options: string[]): Promise<Ended> {
  return run(environment, 'import/import.ts', file, ...options);
}

function run(environment: NodeJS.ProcessEnv, program: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...BARE_ENVIRONMENT, ...environment };
    execFile(
      process.execPath,
      [join(COMMANDS, program), ...args],
      { env, cwd: folder },
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      },
    );
  });
}

async function descriptionsIn({ transactions }: ReturnType<typeof openLedger>) {
  const { items } = await transactions.readExportPart({
    ...{ type: undefined, categoryId: undefined, startDate: undefined, endDate: undefined },
  });
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
      '2 rows are there already',
      'Nothing was sent. Add --yes to import.',
      '',
    ]);
    expect(shown.stderr).toMatch(/^line 4 refused: .*\nline 5 refused: /);
    expect(shown.code).toBe(1);
    // Rows of another account.
    const other = await importFile(environment, '--url', server.url, '--account', 'Card');
    expect(other.stdout).toContain('0 rows are there already');
  });

  it('names rows with one id, and imports the others', async () => {
    const { ledger, environment } = await givenLedger();
    const rows = ['2026-03-05,Tea,-3,Giro', '2026-03-06,Pay,9,Giro', '2026-03-06,Bus,-2,Card'];
    await writeFile(file, ['date,name,amount,Account', ...rows].join('\n'));
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const ended = await importFile(environment, '--url', server.url, '--id', 'Account', '--yes');
    expect(ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 created, 0 were there already, 2 refused'),
      stderr: expect.stringContaining('line 2 refused'),
    });
    expect(await descriptionsIn(ledger)).toEqual(['Bus']);
  });

  it.each(['\ufeff', '\ufffe'])('says how to convert a file in UTF-16', async (mark) => {
    await writeFile(file, Buffer.from(`${mark}date,name,amount`, 'utf16le'));
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const { stderr } = await importFile({}, '--url', server.url);
    expect(stderr).toContain('iconv -f UTF-16 -t UTF-8');
  });

  it('asks for nothing where the file has no rows', async () => {
    await writeFile(file, 'date,name,amount\n');
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const ended = await importFile({}, '--url', server.url, '--yes');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints nothing of a file that could control the terminal', async () => {
    const { environment } = await givenLedger();
    await writeFile(file, 'Date,Payee,Amount,Category\n2026-01-01,a,-1,"\u001b[31mRed\nx"\n');
    onTestFinished(() => writeFile(file, BANK.join('\n')));
    const { stdout } = await importFile(environment, '--url', server.url);
    expect(stdout).toContain('new categories: \ufffd[31mRed\ufffdx\n');
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
});

/** CloudFormation, which knows one stack. */
async function openCloudFormation(outputs: string) {
  const asked: (string | null)[] = [];
  const paths: (string | undefined)[] = [];
  const cloudFormation = createServer(async (request, response) => {
    const parameters = new URLSearchParams(await text(request));
    paths.push(request.url);
    asked.push(parameters.get('Action'), parameters.get('StackName'));
    const stack = `<member><StackName>x</StackName><Outputs>${outputs}</Outputs></member>`;
    const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(`<DescribeStacksResponse>${result}</DescribeStacksResponse>`);
  });
  await new Promise<void>((resolve) => cloudFormation.listen(0, '127.0.0.1', resolve));
  const { port } = cloudFormation.address() as AddressInfo;
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  };
  const close = () => {
    cloudFormation.closeAllConnections();
    return new Promise((resolve) => cloudFormation.close(resolve));
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
