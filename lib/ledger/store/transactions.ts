// Stores transactions. A row, its day counts and the count of its category change in one database transaction.

import type { Database, Item, OutcomeCheck, Write } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import {
  createDeletion,
  diffItems,
  setAttributes,
  toItemName,
} from '../../shared/update-writes.ts';
import { isAssignableId, isStoredAs } from '../domain/record.ts';
import {
  createExternalIdTakenError,
  type Transaction,
  type TransactionType,
} from '../domain/transaction.ts';
import type { CategoryStore } from './categories.ts';
import type { DayCounts } from './day-counts.ts';
import type { CommitPart } from './idempotency.ts';
import { type Keys, parseDateKey } from './keys.ts';
import { createSequences } from './sequences.ts';

export type TransactionStore = ReturnType<typeof createTransactionStore>;

/** A transaction as it is stored. Date, time of creation and id are only in `date_key`: larger items make lists cost more. */
interface StoredTransaction {
  readonly date_key: string;
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly category_id?: number;
  readonly notes?: string;
  readonly external_id?: string;
  readonly import_id?: string;
  readonly updated_at: number;
  readonly version: number;
}

/** The attributes that a list reads. */
export const STORED_ATTRIBUTES = Object.keys({
  date_key: true,
  description: true,
  amount: true,
  type: true,
  category_id: true,
  notes: true,
  external_id: true,
  import_id: true,
  updated_at: true,
  version: true,
} satisfies Record<keyof StoredTransaction, true>);

/** A transaction before and after a change: a creation has no `before`, a removal no `after`. */
export interface RowChange {
  readonly before?: Transaction;
  readonly after?: Transaction;
  /** Writes that join the same database transaction. */
  readonly extraWrites?: CommitPart;
}

/** Changes that one database transaction applies, all or none. A count that several rows share is written once. */
export interface PreparedCommit {
  /** False if the commit would write an item twice, or more items than the database allows. */
  readonly fits: boolean;
  /**
   * @throws StaleRecordError if a row has changed since it was read; ConflictError; NotFoundError or ValidationError if a
   * category no longer exists or is inactive
   */
  readonly commit: () => Promise<void>;
}

/** The limit of one TransactWriteItems. */
const MAX_WRITES = 100;

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
  const sequences = createSequences({ database, keys });

  async function get(id: number): Promise<Transaction | undefined> {
    if (!isAssignableId(id)) return undefined;
    const item = await database.get(keys.transaction(id));
    return item && fromTransactionItem(item);
  }

  /** Finds the id of the transaction that has an external id. */
  async function findIdByExternalId(externalId: string): Promise<number | undefined> {
    const guard = await database.get(keys.externalId(externalId));
    return guard && Number(guard.transaction_id);
  }

  /** Reserves consecutive new ids, and returns the first one. */
  async function reserveIds(count: number): Promise<number> {
    return (await sequences.allocate('transaction', count)) - count + 1;
  }

  function prepare(changes: readonly [RowChange, ...RowChange[]]): PreparedCommit {
    const writes = listWrites(changes);
    const areItemsDistinct = new Set(writes.map(toItemName)).size === writes.length;
    return {
      fits: areItemsDistinct && writes.length <= MAX_WRITES,
      commit: () => database.commit(writes, checkOutcome(changes[0], changes.length === 1)),
    };
  }

  /** @throws the errors of `PreparedCommit.commit` */
  async function write(change: RowChange): Promise<void> {
    await prepare([change]).commit();
  }

  function listWrites(changes: readonly RowChange[]): Write[] {
    return [
      ...changes.flatMap(({ extraWrites = [], before, after }) => [
        ...extraWrites,
        ...createRowWrites(before, after),
        ...createExternalIdWrites(before, after),
      ]),
      ...createCounterWrites(
        changes.flatMap(({ before }) => before ?? []),
        changes.flatMap(({ after }) => after ?? []),
      ),
    ];
  }

  function createRowWrites(
    before: Transaction | undefined,
    after: Transaction | undefined,
  ): Write[] {
    if (!before) return after ? [createRowPut(after)] : [];
    const key = keys.transaction(before.id);
    const condition = {
      expression: IS_UNCHANGED,
      values: { ':version': before.version },
      onConditionFailed: (existing: Item | undefined) => createStaleError(before, existing),
    };
    if (!after) return [createDeletion(key, condition)];
    const items = [toTransactionItem(keys, before), toTransactionItem(keys, after)] as const;
    return [setAttributes(key, diffItems(...items), condition)];
  }

  function createRowPut(transaction: Transaction): Write {
    return {
      Put: { Item: toTransactionItem(keys, transaction), ConditionExpression: IS_NEW },
      onConditionFailed: () => new Error(`Transaction id ${transaction.id} was assigned twice`),
    };
  }

  function checkOutcome({ before, after }: RowChange, isOnlyChange: boolean): OutcomeCheck {
    const key = keys.transaction((after ?? before)?.id ?? 0);
    // No other request can create a row with this id, so a stored row proves the commit.
    if (!before) return { key, wasApplied: (stored) => stored !== undefined };
    // Another request may have removed the row. So the row's absence proves the commit only if there are no other changes.
    if (!after) return { key, wasApplied: (stored) => !stored && (isOnlyChange || undefined) };
    return {
      key,
      wasApplied: (stored) => isStoredAs(after, stored && fromTransactionItem(stored)),
    };
  }

  function createCounterWrites(
    before: readonly Transaction[],
    after: readonly Transaction[],
  ): Write[] {
    const listCategoryIds = (rows: readonly Transaction[]) =>
      rows.map(({ categoryId }) => categoryId);
    return [
      ...dayCounts.createCounterWrites(before, after),
      ...categories.createCounterWrites(listCategoryIds(before), listCategoryIds(after)),
    ];
  }

  /** Creates the writes of the items that make external ids unique. */
  function createExternalIdWrites(
    before: Transaction | undefined,
    after: Transaction | undefined,
  ): Write[] {
    const oldId = before?.externalId ?? undefined;
    const newId = after?.externalId ?? undefined;
    if (oldId === newId) return [];
    return [
      ...(before && oldId !== undefined ? [createRelease(oldId, before.id)] : []),
      ...(after && newId !== undefined ? [createClaim(newId, after.id)] : []),
    ];
  }

  function createClaim(externalId: string, id: number): Write {
    return {
      Put: {
        Item: toExternalIdGuard(keys, externalId, id),
        ConditionExpression: IS_NEW,
      },
      onConditionFailed: (existing) =>
        createExternalIdTakenError(externalId, existing && Number(existing.transaction_id)),
    };
  }

  function createRelease(externalId: string, id: number): Write {
    return createDeletion(keys.externalId(externalId), {
      expression: IS_OWN_EXTERNAL_ID,
      values: { ':id': id },
      onConditionFailed: () =>
        new Error(`The external id of transaction ${id} is not reserved for it`),
    });
  }

  return { get, findIdByExternalId, reserveIds, prepare, write };
}

function createStaleError(
  { id, version }: Transaction,
  existing: Item | undefined,
): StaleRecordError {
  const message = `Transaction ${id} is no longer at version ${version}`;
  return new StaleRecordError(message, existing && fromTransactionItem(existing));
}

export function toExternalIdGuard(keys: Keys, externalId: string, id: number): Item {
  return { ...keys.externalId(externalId), transaction_id: id };
}

export function toTransactionItem(keys: Keys, transaction: Transaction): Item {
  const attributes: Omit<StoredTransaction, 'date_key'> = {
    description: transaction.description,
    amount: transaction.amount,
    type: transaction.type,
    ...(transaction.categoryId === null ? {} : { category_id: transaction.categoryId }),
    ...(transaction.notes === null ? {} : { notes: transaction.notes }),
    ...(transaction.externalId ? { external_id: transaction.externalId } : {}),
    ...(transaction.importId ? { import_id: transaction.importId } : {}),
    updated_at: transaction.updatedAt,
    version: transaction.version,
  };
  return {
    ...keys.transaction(transaction.id),
    ...keys.indexAttributes(transaction),
    ...attributes,
  };
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
    importId: stored.import_id ?? null,
    updatedAt: stored.updated_at,
    version: stored.version,
  };
}
