// The list of all ledgers. A new ledger enters it with its first id (sequences.ts). This file adds ledgers of earlier releases.
import type { Database } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import { runInBatches } from '../../shared/run-in-batches.ts';
import { createKeys, LEDGERS } from './keys.ts';
import { readPartition } from './ledger-items.ts';

const REGISTRATION_CONCURRENCY = 20;

/** Reads the ids of all ledgers that ever had a record and were not removed. Memory holds the ids of one call at a time. */
export async function* readLedgerIds(
  database: Pick<Database, 'queryOnce'>,
): AsyncGenerator<string> {
  for await (const { sk } of readPartition(database, LEDGERS)) yield String(sk);
}

/**
 * Adds ledgers to the list, except those without a sequence of ids. Can be repeated, even while clients write.
 * @returns number of ledgers that were added
 */
export async function registerLedgers(
  database: Pick<Database, 'query' | 'commit'>,
  ledgerIds: readonly string[],
): Promise<number> {
  const register = (ledgerId: string) => registerLedger(database, ledgerId);
  return (await runInBatches(ledgerIds, REGISTRATION_CONCURRENCY, register)).filter(Boolean).length;
}

async function registerLedger(
  database: Pick<Database, 'query' | 'commit'>,
  ledgerId: string,
): Promise<boolean> {
  const keys = createKeys(ledgerId);
  const { pk } = keys.sequence('transaction');
  const [sequence] = await database.query({ value: pk, consistent: true }, 1);
  if (!sequence) return false;
  const Key = { pk, sk: sequence.sk };
  const onConditionFailed = () =>
    new StaleRecordError(`The ledger ${ledgerId} was registered or deleted`);
  try {
    await database.commit([
      {
        Put: { Item: keys.registration, ConditionExpression: 'attribute_not_exists(pk)' },
        onConditionFailed,
      },
      {
        ConditionCheck: { Key, ConditionExpression: 'attribute_exists(pk)' },
        onConditionFailed,
      },
    ]);
  } catch (error) {
    if (error instanceof StaleRecordError) return false;
    throw error;
  }
  return true;
}
