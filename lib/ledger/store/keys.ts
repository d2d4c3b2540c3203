// The keys of a ledger's items, and the calls that read the items:
//
//   one transaction              Get    TRANSACTION#id
//   transactions by date         Query  one of four date-sorted indexes: all, type, category, category and type
//   counts by day                Query  DAYS, DAYS#category or DAYS#none: years (Y#2026); Get: one month (M#2026-03)
//   the row of an external id    Get    EXTERNAL_ID#the external id
//   one category / all of them   Get / Query  CATEGORIES
//   category by name / all names Get / Query  CATEGORY_NAMES
//   the next id                  Update SEQUENCES
//   the reply to a repeated POST Get    IDEMPOTENCY; all of them: Query
//   the rows of all imports      Query  IMPORTS
//   everything, to verify it     Get and Query as above (ledger-items.ts), or Scan
//
// Each of these keys starts with the ledger's id, so that no read can cross from one ledger into another. The following keys
// belong to no ledger. They start with "@", which no ledger's id does:
//
//   one API key                  Get    @API_KEYS#the key's hash
//   all API keys                 Query  @API_KEYS: their hashes
//   all ledgers                  Query  @LEDGERS: their ids
//
// The records of migrations have their keys in lib/migration.

import type { Key } from '../../shared/database.ts';
import type { CalendarDate, CalendarMonth, CalendarYear } from '../domain/calendar-date.ts';
import type { ListPosition } from '../domain/pagination.ts';
import type { Transaction, TransactionType } from '../domain/transaction.ts';

export const SEQUENCE_KINDS = ['transaction', 'category'] as const;
export type SequenceKind = (typeof SEQUENCE_KINDS)[number];
/** The attribute of a sequence with the last allocated id. */
export const LAST_ID = 'last';

/** The partition that lists all ledgers: a sort key is the id of a ledger. */
export const LEDGERS = '@LEDGERS';

/** The filters that decide which index a list reads. */
export interface IndexFilter {
  readonly type: TransactionType | undefined;
  /** Null selects the rows without a category. */
  readonly categoryId: number | null | undefined;
}

/** An index, the attribute that is its partition key, and the partition in it. */
export interface IndexPartition {
  readonly index: string;
  readonly attribute: string;
  readonly value: string;
}

export type Keys = ReturnType<typeof createKeys>;

const ONLY_ITEM = '-';
/** Replaces the category id in the keys of transactions without a category. */
const NO_CATEGORY = 'none';

export function createKeys(ledgerId: string) {
  const joinKey = (...parts: (string | number)[]) => [ledgerId, ...parts].join('#');
  return {
    /** The beginning of every partition key of the ledger. */
    prefix: joinKey(''),

    /** Parses the kind of item that a partition key belongs to: TRANSACTION, EXTERNAL_ID, CATEGORIES ... */
    parseKind: (pk: string): string => pk.split('#', 2)[1] ?? '',

    transaction: (id: number): Key => ({ pk: joinKey('TRANSACTION', id), sk: ONLY_ITEM }),

    /** Parses the id in a transaction's key; NaN for a key of another kind. */
    parseTransactionId: (pk: string): number => {
      const prefix = joinKey('TRANSACTION', '');
      return pk.startsWith(prefix) ? Number(pk.slice(prefix.length)) : Number.NaN;
    },

    externalId: (externalId: string): Key => ({
      pk: joinKey('EXTERNAL_ID', externalId),
      sk: ONLY_ITEM,
    }),

    /** Parses the external id in the key of the item that reserves it, its guard. */
    parseExternalId: (pk: string): string => pk.slice(joinKey('EXTERNAL_ID', '').length),

    categories: joinKey('CATEGORIES'),
    category: (id: number): Key => ({ pk: joinKey('CATEGORIES'), sk: padId(id) }),

    categoryNames: joinKey('CATEGORY_NAMES'),
    categoryName: (name: string): Key => ({ pk: joinKey('CATEGORY_NAMES'), sk: name }),

    imports: joinKey('IMPORTS'),
    importPart: (importId: string, part: number): Key => ({
      pk: joinKey('IMPORTS'),
      sk: `${importId}#${String(part).padStart(4, '0')}`,
    }),

    replies: joinKey('IDEMPOTENCY'),
    /** @param key hash of the idempotency key */
    reply: (key: string): Key => ({ pk: joinKey('IDEMPOTENCY'), sk: key }),

    /** The ledger's entry in the list of all ledgers. */
    registration: { pk: LEDGERS, sk: ledgerId } satisfies Key,

    sequence: (kind: SequenceKind): Key => ({ pk: joinKey('SEQUENCES'), sk: kind }),

    /** The histogram of all transactions, of one category, or (null) of the transactions without a category. */
    days: (categoryId?: number | null): string =>
      categoryId === undefined ? joinKey('DAYS') : joinKey('DAYS', categoryId ?? NO_CATEGORY),

    /** Describes the transactions that a histogram counts. */
    describeDays: (pk: string): string => {
      if (pk === joinKey('DAYS')) return 'all transactions';
      return pk === joinKey('DAYS', NO_CATEGORY)
        ? 'no category'
        : `category ${pk.split('#').at(-1)}`;
    },

    /** The key of a month in the cache. It is not a key of the table. */
    cachedMonth: (month: CalendarMonth): string => joinKey('MONTH', month),

    /** Attributes that put a transaction into the date-sorted indexes. */
    indexAttributes: (
      transaction: Pick<Transaction, 'type' | 'categoryId' | 'date' | 'createdAt' | 'id'>,
    ) => {
      const { type, categoryId } = transaction;
      return {
        all_key: ledgerId,
        type_key: joinKey(type),
        category_key: joinKey(categoryId ?? NO_CATEGORY),
        category_type_key: joinKey(categoryId ?? NO_CATEGORY, type),
        date_key: toDateKey(transaction),
      };
    },

    partition: ({ type, categoryId }: IndexFilter): IndexPartition => {
      if (type && categoryId !== undefined) {
        return toIndexPartition('category-type', joinKey(categoryId ?? NO_CATEGORY, type));
      }
      if (type) return toIndexPartition('type', joinKey(type));
      if (categoryId !== undefined)
        return toIndexPartition('category', joinKey(categoryId ?? NO_CATEGORY));
      return toIndexPartition('all', ledgerId);
    },
  };
}

/** Finds the ledger that a partition key begins with; undefined for keys that belong to no ledger. */
export function findLedger(pk: string): string | undefined {
  const [owner = '', kind] = pk.split('#', 2);
  return kind === undefined || owner.startsWith('@') ? undefined : owner;
}

/** The only key that the role of the health check may read. It has no item. */
export const HEALTH_KEY: Key = { pk: 'HEALTH', sk: ONLY_ITEM };

/** The partition that lists all API keys: a sort key is the hash of a key. */
export const API_KEY_NAMES = '@API_KEYS';

/**
 * Each API key has its own partition. A partition serves 3,000 reads a second: if all keys shared one, a flood of wrong keys
 * would lock out every caller.
 */
export function createApiKeyKey(hash: string): Key {
  return { pk: `${API_KEY_NAMES}#${hash}`, sk: 'key' };
}

/** Parses the hash in the partition key of an API key. */
export function parseApiKeyHash(pk: string): string {
  return pk.slice(API_KEY_NAMES.length + 1);
}

/** Creates the key of an API key's entry in the list of all API keys. */
export function createApiKeyNameKey(hash: string): Key {
  return { pk: API_KEY_NAMES, sk: hash };
}

export function toYearKey(year: CalendarYear): string {
  return `Y#${year}`;
}

export function toMonthKey(month: CalendarMonth): string {
  return `M#${month}`;
}

/** Parses the year or month in the sort key of a histogram item. */
export function parsePeriod(sk: string): CalendarYear | CalendarMonth {
  return sk.slice(2);
}

/** Writes a position as a string. The strings sort like the list: by date, then by time of creation, then by id. */
export function toDateKey({ date, createdAt, id }: ListPosition): string {
  return `${date}#${new Date(createdAt).toISOString()}#${padId(id)}`;
}

export function parseDateKey(key: string): ListPosition {
  const [date = '', createdAt = '', id = ''] = key.split('#');
  return { date, createdAt: Date.parse(createdAt), id: Number(id) };
}

/** Returns a key that sorts before all rows of the day. */
export function toFirstKeyOnDay(date: CalendarDate): string {
  return `${date}#`;
}

/** Returns a key that sorts after all rows of the day. */
export function toLastKeyOnDay(date: CalendarDate): string {
  return `${date}#~`;
}

/** Returns a lower bound for the keys of all rows after the position. The row at the position need not exist any more. */
export function toFirstKeyAfter(position: ListPosition): string {
  return `${toDateKey(position)}~`;
}

/** Returns an upper bound for the keys of all rows before the position. The row at the position need not exist any more. */
export function toLastKeyBefore(position: ListPosition): string {
  return toDateKey({ ...position, id: position.id - 1 });
}

/** A position after every row of the day. */
export function toLastPositionOn(date: CalendarDate): ListPosition {
  return { date, createdAt: Date.parse('9999-12-31T23:59:59.999Z'), id: Number.MAX_SAFE_INTEGER };
}

function toIndexPartition(combination: string, value: string): IndexPartition {
  return {
    index: `${combination}-by-date`,
    attribute: `${combination.replace('-', '_')}_key`,
    value,
  };
}

// Padded to the width of the largest safe integer, so that strings sort like numbers.
function padId(id: number): string {
  return String(id).padStart(16, '0');
}
