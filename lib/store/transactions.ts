// Stores transactions: the row, the day counts and the count of its category change in one database transaction.
import { isAssignableId, isStoredAs } from '../domain/record.ts';
import type { Transaction, TransactionType } from '../domain/transaction.ts';
import { DuplicateError, StaleRecordError } from '../errors.ts';
import type { CategoryStore } from './categories.ts';
import type { Database, Item, Write } from './database.ts';
import type { DayCounts } from './day-counts.ts';
import { type Keys, LAST_ID, parseDateKey } from './keys.ts';
import { setOn } from './update-writes.ts';

export type TransactionStore = ReturnType<typeof createTransactionStore>;

/** Date, creation and id are stored once, in the key: lists pay by the byte. */
interface StoredTransaction {
  readonly date_key: string;
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly category_id?: number;
  readonly notes?: string;
  readonly external_id?: string;
  readonly updated_at: number;
  readonly version: number;
}

/** A new transaction, and further writes of the database transaction that stores it. */
export interface NewRow {
  readonly transaction: Transaction;
  readonly also: readonly Write[];
}

/** The limit of one TransactWriteItems. */
const MOST_WRITES = 100;

const IS_NEW = 'attribute_not_exists(pk)';
const IS_OWN_EXTERNAL_ID = 'transaction_id = :id';
const IS_UNCHANGED = 'version = :version';

export function createTransactionStore(options: {
  readonly database: Database;
  readonly keys: Keys;
  readonly dayCounts: DayCounts;
  readonly categories: CategoryStore;
}) {
  const { database, keys, dayCounts, categories } = options;

  async function get(id: number): Promise<Transaction | undefined> {
    if (!isAssignableId(id)) return undefined;
    const item = await database.get(keys.transaction(id));
    return item && fromTransactionItem(item);
  }

  /** Id of the transaction that has an external id. */
  async function findExternal(externalId: string): Promise<number | undefined> {
    const guard = await database.get(keys.externalId(externalId));
    return guard && Number(guard.transaction_id);
  }

  /** The first of several new ids. Ids may be skipped: an id that is drawn for a write that fails is not used. */
  async function nextIds(count: number): Promise<number> {
    return (await database.increment(keys.sequence('transaction'), LAST_ID, count)) - count + 1;
  }

  /**
   * Stores all rows or none.
   * @throws DuplicateError; NotFoundError, ValidationError when a category no longer exists or is inactive
   */
  async function add(rows: readonly NewRow[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    await database.commit(writesOf(rows), {
      key: keys.transaction(first.transaction.id),
      // No other request has this id.
      wasApplied: (stored) => stored !== undefined,
    });
  }

  /** Whether the rows can be stored in one database transaction, which writes each item once. */
  function fit(rows: readonly NewRow[]): boolean {
    const externalIds = rows.flatMap(({ transaction: { externalId } }) => externalId ?? []);
    const areDistinct = new Set(externalIds).size === externalIds.length;
    return areDistinct && writesOf(rows).length <= MOST_WRITES;
  }

  function writesOf(rows: readonly NewRow[]): Write[] {
    const puts = rows.flatMap(({ transaction, also }): Write[] => [
      ...also,
      {
        Put: { Item: toTransactionItem(keys, transaction), ConditionExpression: IS_NEW },
        onConditionFailed: () => new Error(`Transaction id ${transaction.id} was given twice`),
      },
      ...externalIdWrites(undefined, transaction),
    ]);
    return [
      ...puts,
      ...counterWrites(
        [],
        rows.map(({ transaction }) => transaction),
      ),
    ];
  }

  /** @throws StaleRecordError when the row has changed since it was read, and as `add` does */
  async function replace(before: Transaction, after: Transaction): Promise<void> {
    const changed = changedAttributes(
      toTransactionItem(keys, before),
      toTransactionItem(keys, after),
    );
    const update = setOn(keys.transaction(after.id), changed, {
      expression: IS_UNCHANGED,
      values: { ':version': before.version },
      onConditionFailed: (existing) => stale(before, existing),
    });
    await database.commit(
      [update, ...externalIdWrites(before, after), ...counterWrites([before], [after])],
      {
        key: keys.transaction(after.id),
        wasApplied: (stored) => isStoredAs(after, stored && fromTransactionItem(stored)),
      },
    );
  }

  /** @throws StaleRecordError when the row has changed since it was read */
  async function remove(transaction: Transaction): Promise<void> {
    const deletion: Write = {
      Delete: { Key: keys.transaction(transaction.id), ...unchanged(transaction) },
      onConditionFailed: (existing) => stale(transaction, existing),
    };
    const writes = [
      deletion,
      ...externalIdWrites(transaction, undefined),
      ...counterWrites([transaction], []),
    ];
    await database.commit(writes, {
      key: keys.transaction(transaction.id),
      wasApplied: (stored) => stored === undefined,
    });
  }

  function counterWrites(before: readonly Transaction[], after: readonly Transaction[]): Write[] {
    const categoriesOf = (rows: readonly Transaction[]) => rows.map(({ categoryId }) => categoryId);
    return [
      ...dayCounts.counterWrites(before, after),
      ...categories.counterWrites(categoriesOf(before), categoriesOf(after)),
    ];
  }

  /** The items that make external ids unique. */
  function externalIdWrites(
    before: Transaction | undefined,
    after: Transaction | undefined,
  ): Write[] {
    const left = before?.externalId ?? undefined;
    const taken = after?.externalId ?? undefined;
    if (left === taken) return [];
    return [
      ...(before && left !== undefined ? [release(left, before.id)] : []),
      ...(after && taken !== undefined ? [claim(taken, after.id)] : []),
    ];
  }

  function claim(externalId: string, id: number): Write {
    return {
      Put: {
        Item: toExternalIdGuard(keys, externalId, id),
        ConditionExpression: IS_NEW,
      },
      onConditionFailed: (existing) =>
        new DuplicateError(externalId, existing && Number(existing.transaction_id)),
    };
  }

  function release(externalId: string, id: number): Write {
    return {
      Delete: {
        Key: keys.externalId(externalId),
        ConditionExpression: IS_OWN_EXTERNAL_ID,
        ExpressionAttributeValues: { ':id': id },
      },
      onConditionFailed: () => new Error(`The external id of transaction ${id} is not its own`),
    };
  }

  return { get, findExternal, nextIds, add, fit, replace, remove };
}

/** Undefined where the attribute is to go. All others stay as they are, also those that only newer code knows. */
function changedAttributes(before: Item, after: Item): Item {
  const names = Object.keys({ ...before, ...after });
  const changed = names.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}

function unchanged({ version }: Transaction) {
  return {
    ConditionExpression: IS_UNCHANGED,
    ExpressionAttributeValues: { ':version': version },
  };
}

function stale({ id, version }: Transaction, existing: Item | undefined): StaleRecordError {
  const message = `Transaction ${id} is no longer at version ${version}`;
  return new StaleRecordError(message, existing && fromTransactionItem(existing));
}

export function toExternalIdGuard(keys: Keys, externalId: string, id: number): Item {
  return { ...keys.externalId(externalId), transaction_id: id };
}

export function toTransactionItem(keys: Keys, transaction: Transaction): Item {
  const stored: Omit<StoredTransaction, 'date_key'> = {
    description: transaction.description,
    amount: transaction.amount,
    type: transaction.type,
    ...(transaction.categoryId === null ? {} : { category_id: transaction.categoryId }),
    ...(transaction.notes === null ? {} : { notes: transaction.notes }),
    ...(transaction.externalId ? { external_id: transaction.externalId } : {}),
    updated_at: transaction.updatedAt,
    version: transaction.version,
  };
  return { ...keys.transaction(transaction.id), ...keys.indexed(transaction), ...stored };
}

export function fromTransactionItem(item: Item): Transaction {
  const stored = item as unknown as StoredTransaction;
  return {
    ...parseDateKey(stored.date_key),
    description: stored.description,
    amount: stored.amount,
    type: stored.type,
    categoryId: stored.category_id ?? null,
    notes: stored.notes ?? null,
    externalId: stored.external_id ?? null,
    updatedAt: stored.updated_at,
    version: stored.version,
  };
}
