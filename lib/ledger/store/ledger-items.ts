// Reads the items of one ledger by their keys, at a cost that grows with the ledger and not with the table. Rows are found by
// the ids that the ledger has assigned. A damaged ledger may have other items, which only a scan finds: rows and category counts
// with ids that were never assigned, and guards of external ids that no row has.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Batches, createBatches } from '../../shared/batches.ts';
import {
  createDatabase,
  type Database,
  type Item,
  LONG_TIMEOUTS,
  type Position,
} from '../../shared/database.ts';
import type { RetryPolicy } from '../../shared/retry.ts';
import { type Keys, LAST_ID, type SequenceKind } from './keys.ts';
import { createLedgerDatabase, createSchema, type Schema } from './schema.ts';

const KEYS_PER_BATCH = 100;

type Reader = Pick<Database, 'get' | 'query'> & Pick<Batches, 'getMany'>;

interface TableOptions {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy: RetryPolicy;
}

/** Opens the table for commands that read whole ledgers. */
export function openTable(
  options: TableOptions,
  schema: Schema = createSchema(),
): Database & Batches {
  const { getMany, deleteMany } = openTableWithoutUpgrades(options);
  return {
    ...createLedgerDatabase({ ...options, timeouts: LONG_TIMEOUTS }, schema),
    getMany: async (keys) => (await getMany(keys)).map(schema.upgrade),
    deleteMany,
  };
}

/** Opens the table without upgrades: items keep the form in which they were written. */
export function openTableWithoutUpgrades(options: TableOptions): Database & Batches {
  const { callMs } = LONG_TIMEOUTS;
  return {
    ...createDatabase({ ...options, timeouts: LONG_TIMEOUTS }),
    ...createBatches({ ...options, callMs }),
  };
}

/** Counts the ids that the ledger has assigned, including those of deleted records. */
export async function countAssignedIds(
  database: Pick<Database, 'get'>,
  keys: Keys,
): Promise<Readonly<Record<SequenceKind, number>>> {
  const readLastId = async (kind: SequenceKind) =>
    Number((await database.get(keys.sequence(kind)))?.[LAST_ID] ?? 0);
  return { transaction: await readLastId('transaction'), category: await readLastId('category') };
}

/**
 * Reads the items of a ledger, strongly consistent. Rows and their guards come first; the sequences, which lead to the rows,
 * come last.
 * @param after id of the last transaction that an interrupted reading has read
 * @param onRead called with the id up to which all transactions have been read
 */
export async function* readLedgerItems(
  database: Reader,
  keys: Keys,
  { after = 0, onRead }: { after?: number; onRead?: (id: number) => Promise<void> } = {},
): AsyncGenerator<Item> {
  const assignedIds = await countAssignedIds(database, keys);
  for (const ids of batchIds(after, assignedIds.transaction)) {
    const rows = await database.getMany(ids.map(keys.transaction));
    yield* rows;
    // In a damaged ledger, two rows may have the same external id. They share one guard.
    const externalIds = new Set(rows.flatMap(({ external_id: id }) => id ?? []).map(String));
    yield* await database.getMany([...externalIds].map(keys.externalId));
    await onRead?.(Math.max(...ids));
  }
  const consistent = true;
  const categories = await database.query({ value: keys.categories, consistent });
  const lastCategoryId = Math.max(assignedIds.category, ...categories.map(({ sk }) => Number(sk)));
  const ids = Array.from({ length: lastCategoryId }, (_, n) => n + 1);
  for (const category of [undefined, null, ...ids]) {
    yield* await database.query({ value: keys.days(category), consistent });
  }
  yield* await database.query({ value: keys.categoryNames, consistent });
  yield* await database.query({ value: keys.imports, consistent });
  yield* categories;
  yield* await database.query({ value: keys.sequence('transaction').pk, consistent });
}

/** Yields the replies that are kept for retries, then the items of `readLedgerItems`, and last the entry in the list of ledgers. */
export async function* readEverything(
  database: Reader & Pick<Database, 'queryOnce'>,
  keys: Keys,
): AsyncGenerator<Item> {
  yield* readPartition(database, keys.replies);
  yield* readLedgerItems(database, keys);
  const entry = await database.get(keys.registration);
  if (entry) yield entry;
}

/** Reads a partition. Memory holds only the items of one call at a time. */
export async function* readPartition(
  database: Pick<Database, 'queryOnce'>,
  value: string,
): AsyncGenerator<Item> {
  let position: Position | undefined;
  do {
    const { items, end } = await database.queryOnce({ value, consistent: true }, position);
    yield* items;
    position = end;
  } while (position);
}

function* batchIds(after: number, last: number): Generator<number[]> {
  for (let first = after + 1; first <= last; first += KEYS_PER_BATCH) {
    yield Array.from({ length: Math.min(KEYS_PER_BATCH, last + 1 - first) }, (_, n) => first + n);
  }
}
