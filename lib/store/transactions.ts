// Remembers transactions: the row, its place in the histograms and in its category's count change as one.
import { isAssignableId } from '../domain/record-id.ts';
import { isStoredAs } from '../domain/revision.ts';
import type { Transaction } from '../domain/transaction.ts';
import { StaleRecordError } from '../errors.ts';
import type { CategoryStore } from './categories.ts';
import type { Database, Item, Write } from './database.ts';
import type { DayCounts } from './day-counts.ts';
import type { Keys } from './keys.ts';
import { fromTransactionItem, toTransactionItem } from './transaction-item.ts';

export type TransactionStore = ReturnType<typeof createTransactionStore>;

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

  /** @throws NotFoundError, ValidationError where its category is gone or inactive by now */
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

  /** @throws StaleRecordError where the row is no longer the one that was read, and as `add` does */
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

  /** @throws StaleRecordError where the row is no longer the one that was read */
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

  return { get, add, replace, remove };
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
