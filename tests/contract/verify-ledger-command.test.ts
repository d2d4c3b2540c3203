// `npm run verify-ledger` as a person runs it: its exit code, its lines, its JSON, and how it finds the database.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKeys } from '../../lib/store/keys.ts';
import { bulkLoadHousehold } from '../../local/bulk-loader.ts';
import { ensureTable } from '../../local/create-table.ts';
import { openDataFolder } from '../../local/data-folder.ts';
import { startEmbeddedEngine } from '../../local/engine.ts';
import { createRunning } from '../../local/running.ts';
import { createTestTable, type TestTable } from '../support/test-table.ts';

const COMMAND = join(import.meta.dirname, '../../local/verify-ledger.ts');
const HOUSEHOLD = { transactions: 50, years: 1, lastDay: '2026-06-30', seed: 5 };
const DRIFT = 'category count, category 1: recorded -4, recomputed';

let table: TestTable;
let ledgers = 0;
let ledgerId: string;

beforeAll(async () => {
  table = await createTestTable();
});
beforeEach(() => {
  ledgers += 1;
  ledgerId = `ledger-${ledgers}`;
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function verifyLedger(environment: NodeJS.ProcessEnv, ...options: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...environment };
    execFile(process.execPath, [COMMAND, ...options], { env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

async function givenHousehold({ drift }: { drift: boolean }): Promise<NodeJS.ProcessEnv> {
  const { client, tableName, endpoint } = table;
  await bulkLoadHousehold({ client, tableName, ledgerId }, HOUSEHOLD);
  const spoil = new UpdateCommand({
    TableName: tableName,
    Key: createKeys(ledgerId).category(1),
    UpdateExpression: 'SET transaction_count = :wrong',
    ExpressionAttributeValues: { ':wrong': -4 },
  });
  if (drift) await client.send(spoil);
  return { LEDGER_ID: ledgerId, TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint };
}

describe('verify-ledger', () => {
  it('ends with 0 on a ledger that is in order', async () => {
    const ended = await verifyLedger(await givenHousehold({ drift: false }));
    expect(ended).toEqual({
      code: 0,
      stdout: '50 transactions, 30 categories: in order\n',
      stderr: '',
    });
  });

  it('tells a drift and ends with 1, again and again', async () => {
    const environment = await givenHousehold({ drift: true });
    for (const ended of [await verifyLedger(environment), await verifyLedger(environment)]) {
      expect(ended.code).toBe(1);
      expect(ended.stdout).toContain(DRIFT);
      expect(ended.stdout).toMatch(/\n50 transactions, 30 categories: drifts: 1\n$/);
    }
  });

  it('mends with --repair, tells machines what, and finds nothing afterwards', async () => {
    const environment = await givenHousehold({ drift: true });
    const { code, stdout } = await verifyLedger(environment, '--repair', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        ...{ rows: 50, categories: 30, drifts: [] },
        mended: [expect.objectContaining({ what: 'category count', recorded: -4, mendable: true })],
      },
    ]);
    expect((await verifyLedger(environment)).code).toBe(0);
  });

  it.each([
    [
      'a database that does not answer',
      { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
      [],
      'ECONNREFUSED',
    ],
    [
      'a folder that is not there',
      { DATA_DIR: '/nowhere/at/all' },
      [],
      '/nowhere/at/all is not there',
    ],
    ['data in memory', { DATA_DIR: 'memory' }, [], 'DYNAMODB_ENDPOINT'],
    ['an option that it has not', {}, ['--mend'], "'--mend'"],
  ])('ends with 2 and one line for %s', async (_, environment, options, word) => {
    const { code, stdout, stderr } = await verifyLedger(environment, ...options);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^The ledger cannot be verified: .+\n$/);
    expect(stderr).toContain(word);
  });

  it('ends with 2 for a table that is not there', async () => {
    const ended = await verifyLedger({
      DYNAMODB_ENDPOINT: table.endpoint,
      TABLE_NAME: 'no-such-table',
    });
    expect(ended).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: 'The ledger cannot be verified: the table is not there\n',
    });
  });
});

describe('the data folder of npm start', () => {
  it('is verified while a start holds it, and when none does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ledger-data-'));
    const start = createRunning();
    try {
      const { databaseFile, announce, release } = openDataFolder(folder);
      start.whenStopping(release);
      const { endpoint } = await startEmbeddedEngine(start, databaseFile);
      await ensureTable(endpoint, 'finance-ledger-local');
      announce(endpoint);
      expect((await verifyLedger({ DATA_DIR: folder })).stdout).toContain('in order');
      await start.stop();
      expect((await verifyLedger({ DATA_DIR: folder })).stdout).toContain('in order');
    } finally {
      await start.stop();
      await rm(folder, { recursive: true });
    }
  });
});
