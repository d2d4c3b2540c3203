// The JSON of a transaction, in requests and in responses.

import * as v from 'valibot';
import { calendarDate } from '../domain/calendar-date.ts';
import { HOW_TO_ASSIGN } from '../domain/category.ts';
import { MAX_IMPORT_ID_LENGTH } from '../domain/import-part.ts';
import { amount } from '../domain/money.ts';
import { nonBlankText, printableText, text } from '../domain/text.ts';
import {
  MAX_BULK_ITEMS,
  type NewTransaction,
  TRANSACTION_TYPES,
  type TransactionChanges,
  type TransactionWithCategoryName,
} from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import type { IsExpectedVersion } from '../service/retry-on-conflict.ts';
import { ASSIGNED, ignored, omitUndefined, parseBody } from './fields.ts';
import { makeTag, readVersionCheck } from './preconditions.ts';

export const MAX_EXTERNAL_ID_LENGTH = 128;
const ID_RULE = 'Must be the id of a transaction (an integer).';
const CATEGORY_ID_RULE = 'Must be the id of a category (an integer) or null.';

export const transactionType = v.picklist(TRANSACTION_TYPES, 'Must be "income" or "expense".');

export const importId = printableText(MAX_IMPORT_ID_LENGTH);

/** Fields of a transaction that the client sets. */
export const transactionFields = v.object(
  {
    description: nonBlankText(1_000),
    amount,
    type: transactionType,
    category_id: v.exactOptional(
      v.nullable(v.pipe(v.number(CATEGORY_ID_RULE), v.integer(CATEGORY_ID_RULE))),
    ),
    transaction_date: v.exactOptional(calendarDate),
    notes: v.exactOptional(v.nullable(text(5_000))),
    external_id: v.exactOptional(v.nullable(nonBlankText(MAX_EXTERNAL_ID_LENGTH))),
    import_id: v.exactOptional(v.nullable(importId)),
  },
  'Is required.',
);

const categoryName = v.exactOptional(
  v.pipe(
    v.unknown(),
    v.description(
      'Ignored if `category_id` is sent, which assigns a category. Otherwise only the current name or null is accepted.',
    ),
  ),
);
const READ_ONLY = { ...ASSIGNED, category_name: categoryName };

export const newTransactionBody = v.object(
  { ...READ_ONLY, ...transactionFields.entries },
  'Is required.',
);

const createBulkBody = (each: v.GenericSchema) =>
  v.object(
    {
      transactions: v.pipe(
        v.array(each, 'Must be an array.'),
        v.minLength(1, 'Must not be empty.'),
        v.maxLength(MAX_BULK_ITEMS, `Must be at most ${MAX_BULK_ITEMS} transactions.`),
      ),
    },
    'Is required.',
  );
/**
 * For the API description only. `parseBulk` does not check the items: each is parsed separately, so that an invalid item does
 * not cause the others to be refused.
 */
export const newTransactionList = createBulkBody(newTransactionBody);
const unvalidatedTransactionsBody = createBulkBody(v.unknown());

/** @throws ValidationError, also for an unknown field */
export function parseBulk(body: Readonly<Record<string, unknown>>): readonly unknown[] {
  return parseBody(unvalidatedTransactionsBody, body).transactions as unknown[];
}

/**
 * Parses a bulk body whose items name existing transactions. Each transaction may appear only once.
 * @throws ValidationError
 */
export function parseBulkWithUniqueIds(
  body: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  const items = parseBulk(body);
  const ids = items.map((item) => (isObject(item) ? item.id : undefined));
  const repeatedId = ids.find((id, index) => Number.isFinite(id) && ids.indexOf(id) !== index);
  if (repeatedId === undefined) return items;
  const details = {
    transactions: [`Must name each transaction once: ${repeatedId} appears twice.`],
  };
  throw new ValidationError('Input validation failed', { details });
}

/** `import_id` cannot be changed. It is ignored, because a client may send back the value that it read. */
export const transactionChangesBody = v.partial(
  v.object({ ...newTransactionBody.entries, import_id: ignored }, 'Is required.'),
);

/** Fields that name a transaction, and the version that the client expects. */
const existingFields = {
  id: v.pipe(v.number(ID_RULE), v.integer(ID_RULE)),
  if_match: v.exactOptional(
    v.pipe(
      v.string('Must be a string.'),
      v.description('Like the header If-Match, for this item.'),
    ),
  ),
};

export const bulkChangeItem = v.object(
  { ...transactionChangesBody.entries, ...existingFields },
  'Is required.',
);
export const bulkRemovalItem = v.object(
  { ...READ_ONLY, import_id: ignored, ...existingFields },
  'Is required.',
);
/** For the API description only, like `newTransactionList`. */
export const bulkChangeList = createBulkBody(bulkChangeItem);
export const bulkRemovalList = createBulkBody(bulkRemovalItem);

/** @throws ValidationError with the errors of every field, `if_match` included */
export function parseBulkChange(body: unknown) {
  const { id, if_match, ...input } = parseBody(bulkChangeItem, requireObject(body));
  return {
    id,
    isExpected: readItemVersionCheck(id, if_match),
    changes: toTransactionChanges(input),
  };
}

/** @throws ValidationError as `parseBulkChange` does */
export function parseBulkRemoval(body: unknown) {
  const { id, if_match } = parseBody(bulkRemovalItem, requireObject(body));
  return { id, isExpected: readItemVersionCheck(id, if_match) };
}

/** @throws ValidationError that names `if_match` */
function readItemVersionCheck(id: number, ifMatch: string | undefined): IsExpectedVersion {
  try {
    return readVersionCheck({ 'if-match': ifMatch }, 'transaction', id);
  } catch (cause) {
    const details = { if_match: [`${(cause as Error).message}.`] };
    throw new ValidationError('Input validation failed', { details, cause });
  }
}

/** @throws ValidationError with the errors of every field */
export function parseNewTransaction(body: unknown): NewTransaction {
  const object = requireObject(body);
  const hasOnlyCategoryName = (object.category_name ?? null) !== null && !('category_id' in object);
  const input = parseBody(
    newTransactionBody,
    object,
    hasOnlyCategoryName ? [['category_id', HOW_TO_ASSIGN]] : [],
  );
  return {
    description: input.description,
    amount: input.amount,
    type: input.type,
    categoryId: input.category_id ?? null,
    notes: input.notes ?? null,
    ...(input.external_id == null ? {} : { externalId: input.external_id }),
    ...(input.import_id == null ? {} : { importId: input.import_id }),
    ...(input.transaction_date === undefined ? {} : { date: input.transaction_date }),
  };
}

/**
 * Parses only the fields that the client sent.
 * @throws ValidationError with the errors of every field
 */
export function parseTransactionChanges(
  body: Readonly<Record<string, unknown>>,
): TransactionChanges {
  return toTransactionChanges(parseBody(transactionChangesBody, body));
}

function toTransactionChanges(
  input: v.InferOutput<typeof transactionChangesBody>,
): TransactionChanges {
  return omitUndefined({
    description: input.description,
    amount: input.amount,
    type: input.type,
    categoryId: input.category_id,
    date: input.transaction_date,
    notes: input.notes,
    externalId: input.external_id,
    // Clients in typed languages send null for a name that the response did not have.
    categoryName: input.category_name ?? undefined,
  });
}

/** Empty fields are null, except that `category_name`, `external_id` and `import_id` are left out. */
export function toTransactionJson(transaction: TransactionWithCategoryName) {
  const fields = toFieldsJson(transaction);
  return { ...fields, etag: makeTag('transaction', transaction, fields) };
}

function toFieldsJson(transaction: TransactionWithCategoryName) {
  return {
    id: transaction.id,
    description: transaction.description,
    amount: transaction.amount,
    type: transaction.type,
    category_id: transaction.categoryId,
    ...(transaction.categoryName === undefined ? {} : { category_name: transaction.categoryName }),
    transaction_date: transaction.date,
    notes: transaction.notes,
    ...(transaction.externalId ? { external_id: transaction.externalId } : {}),
    ...(transaction.importId ? { import_id: transaction.importId } : {}),
    created_at: new Date(transaction.createdAt).toISOString(),
    updated_at: new Date(transaction.updatedAt).toISOString(),
  };
}

/** Returns a function that replies to one transaction of a bulk request. */
export function toBulkReply(status: number) {
  return (transaction: TransactionWithCategoryName) => {
    const { id, etag } = toTransactionJson(transaction);
    return { status, body: { id, etag } };
  };
}

/** @throws ValidationError */
function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  throw new ValidationError('Must be a JSON object');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
