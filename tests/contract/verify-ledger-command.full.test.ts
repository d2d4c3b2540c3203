// `npm run verify-ledger` as a person runs it: exit code, lines, JSON, and which database it reads.
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
import { startDatabase } from '../../local/engine.ts';
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
    // Not in the project, whose data folder is the developer's.
    const cwd = tmpdir();
    execFile(process.execPath, [COMMAND, ...options], { env, cwd }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

async function givenHousehold({ drift }: { drift: boolean }): Promise<NodeJS.ProcessEnv> {
  const { client, tableName, endpoint } = table;
  await bulkLoadHousehold({ client, tableName, ledgerId }, HOUSEHOLD);
  const corrupt = new UpdateCommand({
    TableName: tableName,
    Key: createKeys(ledgerId).category(1),
    UpdateExpression: 'SET transaction_count = :wrong',
    ExpressionAttributeValues: { ':wrong': -4 },
  });
  if (drift) await client.send(corrupt);
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

  it('prints a drift and ends with 1, again and again', async () => {
    const environment = await givenHousehold({ drift: true });
    for (const ended of [await verifyLedger(environment), await verifyLedger(environment)]) {
      expect(ended.code).toBe(1);
      expect(ended.stdout).toContain(DRIFT);
      expect(ended.stdout).toMatch(/\n50 transactions, 30 categories: drifts: 1\n$/);
    }
  });

  it('repairs with --repair, lists what as JSON, and finds nothing afterwards', async () => {
    const environment = await givenHousehold({ drift: true });
    const { code, stdout } = await verifyLedger(environment, '--repair', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        ...{ rows: 50, categories: 30, drifts: [] },
        repaired: [
          expect.objectContaining({ what: 'category count', recorded: -4, repairable: true }),
        ],
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
      '/nowhere/at/all does not exist',
    ],
    ['data in memory', { DATA_DIR: 'memory' }, [], 'DYNAMODB_ENDPOINT'],
    [
      'an AWS address',
      { DYNAMODB_ENDPOINT: 'https://dynamodb.eu-west-1.amazonaws.com' },
      [],
      'AWS',
    ],
    ['two databases', { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' }, ['--stage', 'dev'], '--stage'],
    ['a stage without a name', {}, ['--stage', 'a b'], '--stage'],
    ['an unknown option', {}, ['--mend'], '--mend'],
  ])('ends with 2 for %s', async (_, environment, options, word) => {
    const { code, stdout, stderr } = await verifyLedger(environment, ...options);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(word);
    expect(stderr).not.toContain('    at ');
  });

  it('ends with 2 for a table that is not there', async () => {
    const ended = await verifyLedger({
      DYNAMODB_ENDPOINT: table.endpoint,
      TABLE_NAME: 'no-such-table',
    });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: 'The table does not exist\n' });
  });
});

describe('AWS', () => {
  // The SDK's own variable: an account that is not AWS's, but is reached in the same way.
  async function givenAccount(): Promise<NodeJS.ProcessEnv> {
    const { DYNAMODB_ENDPOINT, ...environment } = await givenHousehold({ drift: true });
    return {
      ...environment,
      AWS_ENDPOINT_URL_DYNAMODB: DYNAMODB_ENDPOINT,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    };
  }

  it('is never read or repaired without --stage', async () => {
    const account = await givenAccount();
    for (const options of [[], ['--repair']]) {
      const { code, stdout, stderr } = await verifyLedger(account, ...options);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('.local/data does not exist');
    }
    expect((await verifyLedger(account, '--stage', 'prod')).stdout).toContain(DRIFT);
  });

  it('is read and repaired with --stage', async () => {
    const account = await givenAccount();
    expect((await verifyLedger(account, '--stage', 'prod', '--repair')).stdout).toContain(
      `repaired: ${DRIFT}`,
    );
    expect((await verifyLedger(account, '--stage', 'prod')).code).toBe(0);
  });

  it('is read from the table of the stage', async () => {
    const { TABLE_NAME: _, ...account } = await givenAccount();
    const { code, stderr } = await verifyLedger(account, '--stage', 'dev');
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'The table does not exist\n' });
  });
});

describe('the data folder of npm start', () => {
  it('is verified while a start holds it, and when none does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ledger-data-'));
    const start = createRunning();
    try {
      const { announce, release } = openDataFolder(folder);
      start.whenStopping(release);
      const { endpoint } = await startDatabase(start, folder);
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
