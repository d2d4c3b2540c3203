// `npm run verify-ledger` as a process, and ledgers for it to read.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createKeys } from '../../lib/store/keys.ts';
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { bulkLoadHousehold } from './bulk-loader.ts';
import { createTestTable } from './test-table.ts';

const COMMAND = join(import.meta.dirname, '../../cli/verify-ledger.ts');
const HOUSEHOLD = { years: 1, lastDay: '2026-06-30', seed: 5 };
export const DRIFT = 'category count, category 1: recorded -4, recomputed';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function verifyLedger(environment: NodeJS.ProcessEnv, ...options: string[]): Promise<Ended> {
  return verifyUntil(undefined, environment, ...options);
}

/** @param killed kills the process, which cannot do anything about it */
function verifyUntil(
  killed: AbortSignal | undefined,
  environment: NodeJS.ProcessEnv,
  ...options: string[]
): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...BARE_ENVIRONMENT, ...environment };
    // Not in the project, whose data folder is the developer's.
    const cwd = tmpdir();
    const end = { ...(killed && { signal: killed }), killSignal: 'SIGKILL' } as const;
    execFile(
      process.execPath,
      [COMMAND, ...options],
      { env, cwd, ...end },
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      },
    );
  });
}

export async function openVerifyLedger() {
  const table = await createTestTable();
  let ledgers = 0;

  async function givenHousehold({
    drift = false,
    transactions = 50,
  } = {}): Promise<NodeJS.ProcessEnv> {
    ledgers += 1;
    const ledgerId = `ledger-${ledgers}`;
    const { client, tableName, endpoint } = table;
    await bulkLoadHousehold({ client, tableName, ledgerId }, { ...HOUSEHOLD, transactions });
    const corrupt = new UpdateCommand({
      TableName: tableName,
      Key: createKeys(ledgerId).category(1),
      UpdateExpression: 'SET transaction_count = :wrong',
      ExpressionAttributeValues: { ':wrong': -4 },
    });
    if (drift) await client.send(corrupt);
    return { LEDGER_ID: ledgerId, TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint };
  }

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

  return { verifyLedger, verifyUntil, givenHousehold, givenAccount, table };
}
