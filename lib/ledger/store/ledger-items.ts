// Every item of one ledger, read by its keys: it costs what the ledger is large, and not what the table is. Rows are read
// by the ids that the ledger has given. A scan alone finds what no key leads to: rows of ids that it has not given, guards of
// external ids that no row has, and counts of categories that it has not numbered.
import type { Batches } from '../../shared/batches.ts';
import type { Database, Item, Position } from '../../shared/database.ts';
import { type Keys, LAST_ID, type SequenceKind } from './keys.ts';

const KEYS_AT_ONCE = 100;

type Reader = Pick<Database, 'get' | 'query'> & Pick<Batches, 'getMany'>;

/** How many ids the ledger has given, also to records that are deleted since. */
export async function readGivenIds(
  database: Pick<Database, 'get'>,
  keys: Keys,
): Promise<Readonly<Record<SequenceKind, number>>> {
  const readLastId = async (kind: SequenceKind) =>
    Number((await database.get(keys.sequence(kind)))?.[LAST_ID] ?? 0);
  return { transaction: await readLastId('transaction'), category: await readLastId('category') };
}

/**
 * Strongly consistent; rows and their guards first, what leads to them last.
 * @param after the last transaction of an earlier reading that goes on
 * @param onRead is called when the items up to a transaction are taken
 */
export async function* readLedgerItems(
  database: Reader,
  keys: Keys,
  { after = 0, onRead }: { after?: number; onRead?: (id: number) => Promise<void> } = {},
): AsyncGenerator<Item> {
  const given = await readGivenIds(database, keys);
  for (const ids of slices(after, given.transaction)) {
    const rows = await database.getMany(ids.map(keys.transaction));
    yield* rows;
    // Two rows of one id are a drift.
    const externalIds = new Set(rows.flatMap(({ external_id: id }) => id ?? []).map(String));
    yield* await database.getMany([...externalIds].map(keys.externalId));
    await onRead?.(Math.max(...ids));
  }
  const consistent = true;
  const categories = await database.query({ value: keys.categories, consistent });
  const last = Math.max(given.category, ...categories.map(({ sk }) => Number(sk)));
  const ids = Array.from({ length: last }, (_, n) => n + 1);
  for (const category of [undefined, null, ...ids]) {
    yield* await database.query({ value: keys.days(category), consistent });
  }
  yield* await database.query({ value: keys.categoryNames, consistent });
  yield* await database.query({ value: keys.imports, consistent });
  yield* categories;
  yield* await database.query({ value: keys.sequence('transaction').pk, consistent });
}

/** Replies that are kept for retries; in memory at a time are as many as one call reads. */
export async function* readReplies(
  database: Pick<Database, 'queryOnce'>,
  keys: Keys,
): AsyncGenerator<Item> {
  let read: Position | undefined;
  do {
    const { items, end } = await database.queryOnce(
      { value: keys.replies, consistent: true },
      read,
    );
    yield* items;
    read = end;
  } while (read);
}

function* slices(after: number, last: number): Generator<number[]> {
  for (let first = after + 1; first <= last; first += KEYS_AT_ONCE) {
    yield Array.from({ length: Math.min(KEYS_AT_ONCE, last + 1 - first) }, (_, n) => first + n);
  }
}
