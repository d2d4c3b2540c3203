// Reads a whole ledger: the figures it has recorded, and the same figures recomputed from its rows.
import type { Category } from '../../domain/category.ts';
import { fromCategoryItem, TRANSACTION_COUNT } from '../category-item.ts';
import type { Database, Item } from '../database.ts';
import type { Keys, SequenceKind } from '../keys.ts';
import { LAST_ID } from '../sequences.ts';
import { type Counter, type Counters, counterName, createTally } from '../tally.ts';
import { checkRow, type UnreadableRow, type WrongRow } from './row-check.ts';

export interface LedgerFigures {
  readonly rows: number;
  readonly categories: readonly Category[];
  /** Category ids by the name that was claimed for them. */
  readonly guards: ReadonlyMap<string, number>;
  readonly recorded: Counters;
  readonly recomputed: Counters;
  /** Categories that rows refer to. */
  readonly referredTo: ReadonlySet<number>;
  readonly wrongRows: readonly (WrongRow | UnreadableRow)[];
  readonly lastIds: Readonly<Record<SequenceKind, number>>;
  readonly highestIds: Readonly<Record<SequenceKind, number>>;
}

/** One page of rows in memory at a time; what stays is a number for every day and category. */
export async function readLedgerFigures(database: Database, keys: Keys): Promise<LedgerFigures> {
  const query = (value: string) => database.query({ value, consistent: true });
  const categories = (await query(keys.categories)).map(fromCategoryItem);
  const guards = new Map(
    (await query(keys.categoryNames)).map(({ sk, category_id }) => [
      String(sk),
      Number(category_id),
    ]),
  );
  const known = new Set([...categories.map(({ id }) => id), ...guards.values()]);
  const recorded = new Map<string, Counter>(
    categories.map(({ id, transactionCount }) =>
      entry({ key: keys.category(id), attribute: TRANSACTION_COUNT, count: transactionCount }),
    ),
  );
  const noteDays = async (categoryId?: number | null) => {
    const items = await query(keys.days(categoryId));
    for (const counter of items.flatMap(toCounters)) recorded.set(...entry(counter));
  };
  for (const family of [undefined, null, ...known]) await noteDays(family);

  const { tally, wrongRows } = await readRows(database, keys);
  for (const id of tally.categoryIds) if (!known.has(id)) await noteDays(id);

  return {
    rows: tally.rows(),
    categories,
    guards,
    recorded,
    recomputed: tally.counters,
    referredTo: tally.categoryIds,
    wrongRows,
    // Sequences come last: a row that came meanwhile drew its id before.
    lastIds: {
      transaction: await lastId(database, keys, 'transaction'),
      category: await lastId(database, keys, 'category'),
    },
    highestIds: {
      transaction: tally.highestId(),
      category: Math.max(0, ...categories.map(({ id }) => id)),
    },
  };
}

async function readRows(database: Database, keys: Keys) {
  const tally = createTally(keys);
  const wrongRows: (WrongRow | UnreadableRow)[] = [];
  for await (const item of database.each(
    keys.partition({ type: undefined, categoryId: undefined }),
  )) {
    const row = checkRow(keys, item);
    if (row.transaction) tally.add(row.transaction);
    if (row.wrong.length > 0) wrongRows.push(row);
  }
  return { tally, wrongRows };
}

async function lastId(database: Database, keys: Keys, kind: SequenceKind): Promise<number> {
  return Number((await database.get(keys.sequence(kind)))?.[LAST_ID] ?? 0);
}

function toCounters({ pk, sk, ...counts }: Item): Counter[] {
  const key = { pk: String(pk), sk: String(sk) };
  return Object.entries(counts).map(([attribute, count]) => ({
    key,
    attribute,
    count: Number(count),
  }));
}

function entry(counter: Counter): [string, Counter] {
  return [counterName(counter.key, counter.attribute), counter];
}
