// Stores transactions: the row, the day counts and the count of its category change in one database transaction.
import { isAssignableId, isStoredAs } from '../domain/record.ts';
import type { Transaction, TransactionType } from '../domain/transaction.ts';
import { StaleRecordError } from '../errors.ts';
import type { CategoryStore } from './categories.ts';
import type { Database, Item, Write } from './database.ts';
import type { DayCounts } from './day-counts.ts';
import { type Keys, LAST_ID, parseDateKey } from './keys.ts';

export type TransactionStore = ReturnType<typeof createTransactionStore>;

/** Date, creation and id are stored once, in the key: lists pay by the byte. */
interface StoredTransaction {
  readonly date_key: string;
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly category_id?: number;
  readonly notes?: string;
  readonly updated_at: number;
  readonly version: number;
}

const IS_NEW = 'attribute_not_exists(pk)';
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

  /** Ids may be skipped: an id that is drawn for a write that fails is not used. */
  async function nextId(): Promise<number> {
    return await database.increment(keys.sequence('transaction'), LAST_ID, 1);
  }

  /** @throws NotFoundError, ValidationError when its category no longer exists or is inactive */
  async function add(transaction: Transaction, also: readonly Write[] = []): Promise<void> {
    const put: Write = {
      Put: { Item: toTransactionItem(keys, transaction), ConditionExpression: IS_NEW },
      onConditionFailed: () => new Error(`Transaction id ${transaction.id} was given twice`),
    };
    await database.commit([...also, put, ...followers(undefined, transaction)], {
      key: keys.transaction(transaction.id),
      // No other request has this id.
      wasApplied: (stored) => stored !== undefined,
    });
  }

  /** @throws StaleRecordError when the row has changed since it was read, and as `add` does */
  async function replace(before: Transaction, after: Transaction): Promise<void> {
    const put: Write = {
      Put: { Item: toTransactionItem(keys, after), ...unchanged(before) },
      onConditionFailed: (existing) => stale(before, existing),
    };
    await database.commit([put, ...followers(before, after)], {
      key: keys.transaction(after.id),
      wasApplied: (stored) => isStoredAs(after, stored && fromTransactionItem(stored)),
    });
  }

  /** @throws StaleRecordError when the row has changed since it was read */
  async function remove(transaction: Transaction): Promise<void> {
    const deletion: Write = {
      Delete: { Key: keys.transaction(transaction.id), ...unchanged(transaction) },
      onConditionFailed: (existing) => stale(transaction, existing),
    };
    await database.commit([deletion, ...followers(transaction, undefined)], {
      key: keys.transaction(transaction.id),
      wasApplied: (stored) => stored === undefined,
    });
  }

  function followers(before: Transaction | undefined, after: Transaction | undefined): Write[] {
    return [
      ...dayCounts.follow(before, after),
      ...categories.follow(before?.categoryId ?? null, after?.categoryId ?? null),
    ];
  }

  return { get, nextId, add, replace, remove };
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

export function toTransactionItem(keys: Keys, transaction: Transaction): Item {
  const stored: Omit<StoredTransaction, 'date_key'> = {
    description: transaction.description,
    amount: transaction.amount,
    type: transaction.type,
    ...(transaction.categoryId === null ? {} : { category_id: transaction.categoryId }),
    ...(transaction.notes === null ? {} : { notes: transaction.notes }),
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
    updatedAt: stored.updated_at,
    version: stored.version,
  };
}
