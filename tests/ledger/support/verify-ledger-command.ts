// `npm run verify-ledger` as a process, and ledgers for it to read.
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createKeys } from '../../../lib/ledger/store/keys.ts';
import { runCommand } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { bulkLoadHousehold } from './bulk-loader.ts';

const COMMAND = 'cli/ledger/verify-ledger.ts';
const HOUSEHOLD = { years: 1, lastDay: '2026-06-30', seed: 5 };
export const DRIFT = 'category count, category 1: recorded -4, recomputed';

type Environment = NodeJS.ProcessEnv;

const verifyLedger = (environment: Environment, ...options: string[]) =>
  runCommand(COMMAND, options, environment);

/** @param signal kills the process when it is aborted */
const verifyUntil = (signal: AbortSignal, environment: Environment, ...options: string[]) =>
  runCommand(COMMAND, options, environment, signal);

export async function openVerifyLedger() {
  const table = await createTestTable();
  let ledgerCount = 0;

  async function givenHousehold({
    drift = false,
    transactions = 50,
  } = {}): Promise<NodeJS.ProcessEnv> {
    ledgerCount += 1;
    const ledgerId = `ledger-${ledgerCount}`;
    const { client, tableName, endpoint } = table;
    await bulkLoadHousehold({ client, tableName, ledgerId }, { ...HOUSEHOLD, transactions });
    const corruptCount = new UpdateCommand({
      TableName: tableName,
      Key: createKeys(ledgerId).category(1),
      UpdateExpression: 'SET transaction_count = :wrong',
      ExpressionAttributeValues: { ':wrong': -4 },
    });
    if (drift) await client.send(corruptCount);
    return { LEDGER_ID: ledgerId, TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint };
  }

  // The command treats the database as an AWS account, because the SDK's own variable names its address.
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
