// The schemas of the OpenAPI document: bodies as requests may have them, and records as responses show them.
//
// Generators of clients decide the form. A field has one type, null beside it at most. A number has a format: without one,
// Go and Kotlin take 32 bits. An object has a name: they name what has none by its place. No name begins with New: in Go
// that is a constructor. Only requests have patterns and limits: a client has no reason to refuse what the service sends.
import { type ConversionConfig, type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { SCOPES } from '../../lib/ledger/auth/caller.ts';
import { PERIODS } from '../../lib/ledger/domain/summary.ts';
import { TRANSACTION_TYPES } from '../../lib/ledger/domain/transaction.ts';
import {
  categoryChangesBody,
  categoryFields,
  newCategoryBody,
} from '../../lib/ledger/http/category-json.ts';
import type { ObjectSchema } from '../../lib/ledger/http/fields.ts';
import { importPartBody } from '../../lib/ledger/http/import-json.ts';
import { ERROR_CODES } from '../../lib/ledger/http/replies.ts';
import { CSV_COLUMNS } from '../../lib/ledger/http/transaction-csv.ts';
import {
  newTransactionBody,
  newTransactionsBody,
  transactionChangeBody,
  transactionChangesBody,
  transactionFields,
  transactionRemovalBody,
  transactionsChangesBody,
  transactionsRemovalBody,
} from '../../lib/ledger/http/transaction-json.ts';

/** A schema that is written out, or a reference to a named one. */
export interface Field {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}
type Fields = Readonly<Record<string, Field>>;

export const TEXT: Field = { type: 'string' };
export const ID: Field = { type: 'integer', format: 'int64', minimum: 1 };
export const NUMBER: Field = { type: 'integer', format: 'int32' };
const COUNT: Field = { type: 'integer', format: 'int64', minimum: 0 };
const DIGEST: Field = {
  ...TEXT,
  nullable: true,
  description: 'Opaque: equal for equal sets of transactions.',
};
const TRUTH: Field = { type: 'boolean' };
const TIME: Field = { type: 'string', format: 'date-time' };
const SUM: Field = { type: 'number', format: 'double', description: 'At most 2 decimals.' };
const ETAG: Field = { ...TEXT, description: 'The value for `If-Match`, with its quotes.' };

/** The bodies of requests by the names of their schemas. */
const BODIES: Readonly<Record<string, ObjectSchema>> = {
  TransactionInput: newTransactionBody,
  TransactionInputList: newTransactionsBody,
  TransactionUpdate: transactionChangesBody,
  TransactionUpdateItem: transactionChangeBody,
  TransactionUpdateList: transactionsChangesBody,
  TransactionRemoval: transactionRemovalBody,
  TransactionRemovalList: transactionsRemovalBody,
  CategoryInput: newCategoryBody,
  CategoryUpdate: categoryChangesBody,
  ImportInput: importPartBody,
};

const CONVERSION: ConversionConfig = {
  target: 'openapi-3.0',
  // From the last schema of a pipeline on: a name is judged after it was trimmed.
  typeMode: 'output',
  // The metadata beside them describes these checks, or every JSON text passes them.
  ignoreActions: ['check', 'trim'],
  overrideRef: ({ referenceId }) => reference('schemas', referenceId).$ref,
  overrideAction({ valibotAction, jsonSchema }) {
    const { type, metadata, operation } = valibotAction as {
      readonly type: string;
      readonly metadata?: JsonSchema;
      readonly operation?: unknown;
    };
    if (type === 'metadata') return { ...jsonSchema, ...metadata };
    if (type !== 'transform') return undefined;
    // Text of decimal digits in a query.
    return operation === Number ? { type: 'integer', minimum: 0 } : jsonSchema;
  },
};

export function reference(kind: 'schemas' | 'headers', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** @throws Error where the body has no name */
export function bodyReference(body: ObjectSchema) {
  const [name] = Object.entries(BODIES).find(([, each]) => each === body) ?? [];
  if (name === undefined) throw new Error('A body has no name: add it to BODIES');
  return reference('schemas', name);
}

/** The fields of a body or the parameters of a query, and which of them are required. */
export function fieldsIn(schema: ObjectSchema) {
  const others = Object.entries(BODIES).filter(([, body]) => body !== schema);
  const { properties = {}, required = [] } = toJsonSchema(schema as v.GenericSchema, {
    ...CONVERSION,
    definitions: Object.fromEntries(others) as Record<string, v.GenericSchema>,
  });
  const fields = Object.entries(properties as unknown as Fields).map(([name, field]) => [
    name,
    name in READ_ONLY && isUntyped(field)
      ? { ...READ_ONLY[name], readOnly: true, description: field.description }
      : inPortableForm(field),
  ]);
  return { fields: Object.fromEntries(fields) as Fields, required };
}

function isUntyped(field: Field): boolean {
  return !('type' in field || '$ref' in field || 'anyOf' in field);
}

function inPortableForm({ anyOf, ...field }: Field): Field {
  if (String(field.enum) === String(TRANSACTION_TYPES)) return schema('TransactionType');
  const known = Array.isArray(anyOf) ? { ...anyOf[0], ...field } : field;
  return known.type === 'integer' ? { ...known, format: 'int64' } : known;
}

/** The fields that a body has only because clients may send back what they read; the service takes any value. */
const READ_ONLY: Fields = {
  id: ID,
  created_at: TIME,
  updated_at: TIME,
  category_name: TEXT,
  transaction_count: COUNT,
  etag: TEXT,
  import_id: { ...TEXT, nullable: true },
};

/** No other field than those known. */
function bodySchema(body: ObjectSchema) {
  const { fields, required } = fieldsIn(body);
  return {
    type: 'object',
    properties: fields,
    ...(required.length > 0 && { required }),
    minProperties: 1,
    additionalProperties: false,
  };
}

/** A record with the fields of a body, all of them there, and those that the service assigns. */
function record(body: ObjectSchema, optional: Fields) {
  const fields = Object.entries(fieldsIn(body).fields)
    .filter(([name]) => !(name in optional))
    .map(([name, field]) => [name, withoutLimits(field)]);
  const assigned = { created_at: TIME, updated_at: TIME, etag: ETAG };
  return object({ id: ID, ...Object.fromEntries(fields), ...assigned }, optional);
}

function withoutLimits(field: Field): Field {
  const kept = ['$ref', 'type', 'format', 'nullable', 'enum', 'description'];
  return Object.fromEntries(Object.entries(field).filter(([keyword]) => kept.includes(keyword)));
}

function object(fields: Fields, optional: Fields = {}): Field {
  return {
    type: 'object',
    properties: { ...fields, ...optional },
    required: Object.keys(fields),
  };
}

function schema(name: string): Field {
  return reference('schemas', name);
}

function list(items: Field, description?: string): Field {
  return { type: 'array', items, ...(description && { description }) };
}

function oneOfWords(words: readonly string[]): Field {
  return { ...TEXT, enum: words };
}

const SUCCESS: Fields = { success: { ...TRUTH, description: 'Always true.' } };

function succeeded(fields: Fields) {
  return object({ ...SUCCESS, ...fields });
}

function withEach(names: readonly string[], field: Field): Fields {
  return Object.fromEntries(names.map((name) => [name, field]));
}

/** One schema for both outcomes of an item: a union would need a field that names them. */
const ITEM_RESULT = object(
  {
    index: { ...NUMBER, description: 'The position of the transaction in the request.' },
    status: { ...NUMBER, description: 'The status of the same request for this one alone.' },
  },
  {
    id: { ...ID, description: 'The transaction, where `status` is below 400.' },
    etag: { ...TEXT, description: 'The version of the transaction, also with a 412.' },
    error: schema('ErrorCode'),
    message: { ...TEXT, description: 'The reason, where `status` is 400 or above.' },
    details: schema('FieldErrors'),
    existing_id: { ...ID, description: 'The transaction that has the `external_id`.' },
  },
);

function bulkResults(...counts: string[]) {
  return object({
    ...withEach([...counts, 'failed'], NUMBER),
    results: list(schema('TransactionResult')),
  });
}

const TOTALS = { income: SUM, expense: SUM, net: SUM, count: COUNT };
const GROUP = {
  key: {
    deprecated: true,
    description: 'The value of the grouping; its type depends on the grouping.',
  },
  category_id: { ...ID, nullable: true, description: 'By `category`; null: no category.' },
  name: { ...TEXT, nullable: true, description: 'By `category`: its name.' },
  type: schema('TransactionType'),
};

/** By their names. */
export const SCHEMAS: Readonly<Record<string, Field>> = {
  ...Object.fromEntries(Object.entries(BODIES).map(([name, body]) => [name, bodySchema(body)])),
  TransactionType: oneOfWords(TRANSACTION_TYPES),
  Transaction: record(transactionFields, {
    category_name: TEXT,
    external_id: TEXT,
    import_id: { ...TEXT, description: 'The import that created it.' },
  }),
  Category: record(categoryFields, {
    transaction_count: {
      ...COUNT,
      description: 'In single reads, and in lists requested with counts.',
    },
  }),
  Pagination: object({
    page: { ...COUNT, nullable: true, description: 'Null with `after`.' },
    per_page: NUMBER,
    total: COUNT,
    pages: COUNT,
    has_next: TRUTH,
    has_prev: TRUTH,
    next_cursor: {
      ...TEXT,
      nullable: true,
      description: 'Send it as `after` to get the next page; null at the end.',
    },
  }),
  TransactionPage: succeeded({
    data: list(schema('Transaction')),
    pagination: schema('Pagination'),
  }),
  TransactionSearch: succeeded({
    data: list(schema('Transaction')),
    pagination: schema('Pagination'),
    summary: schema('Totals'),
  }),
  Totals: object(TOTALS),
  Month: object({ month: TEXT, ...TOTALS, digest: DIGEST }),
  Months: succeeded({ data: list(schema('Month')), digest: DIGEST }),
  TransactionRead: succeeded({ data: schema('Transaction') }),
  TransactionWritten: succeeded({ data: schema('Transaction'), message: TEXT }),
  TransactionsFile: { ...TEXT, description: `Columns: ${CSV_COLUMNS.join(', ')}.` },
  TransactionsPart: object(
    {
      ...SUCCESS,
      data: list(schema('Transaction')),
      next: { ...TEXT, nullable: true, description: 'The query of the next part.' },
    },
    {
      digest: {
        ...DIGEST,
        description:
          'Digest of all parts of a month; only in the last part of an export of exactly one month.',
      },
    },
  ),
  TransactionResult: ITEM_RESULT,
  CreationResults: bulkResults('created', 'duplicates'),
  UpdateResults: bulkResults('updated'),
  DeletionResults: bulkResults('deleted'),
  TransactionsCreated: succeeded({ data: schema('CreationResults') }),
  TransactionsUpdated: succeeded({ data: schema('UpdateResults') }),
  TransactionsDeleted: succeeded({ data: schema('DeletionResults') }),
  CategoryList: succeeded({ data: list(schema('Category')), count: COUNT }),
  CategoryRead: succeeded({ data: schema('Category') }),
  CategoryWritten: succeeded({ data: schema('Category'), message: TEXT }),
  Deleted: succeeded({ message: TEXT }),
  SummaryGroup: object(TOTALS, {
    ...GROUP,
    period: { ...TEXT, description: 'By a period, such as `2026-03-05`, `2026-03` or `2026`.' },
  }),
  SummaryData: object({ ...TOTALS, groups: list(schema('SummaryGroup')) }),
  Summary: succeeded({ data: schema('SummaryData') }),
  SeriesGroup: object(
    Object.fromEntries(Object.entries(TOTALS).map(([name, each]) => [name, list(each)])),
    GROUP,
  ),
  SeriesData: object(
    { ...TOTALS, groups: list(schema('SeriesGroup')) },
    Object.fromEntries(
      PERIODS.map((period) => [`${period}s`, list(TEXT, `The periods, by \`${period}\`.`)]),
    ),
  ),
  SummarySeries: succeeded({ data: schema('SeriesData') }),
  ImportPart: object({ import_id: TEXT, part: NUMBER, rows: list(TEXT) }),
  ImportParts: succeeded({
    data: list(schema('ImportPart')),
    next: { ...TEXT, nullable: true, description: 'The query of the next page.' },
  }),
  ImportCount: object({ import_id: TEXT, part: NUMBER, recorded: NUMBER }),
  ImportRecorded: succeeded({ data: schema('ImportCount'), message: TEXT }),
  CallerData: object(
    {
      ledger: TEXT,
      scope: oneOfWords(SCOPES),
      kind: oneOfWords(['key', 'token', 'anonymous']),
    },
    { key_id: TEXT, name: { ...TEXT, description: 'The name of the key.' } },
  ),
  Caller: succeeded({ data: schema('CallerData') }),
  HealthData: object({ status: TEXT }, { table: TEXT }),
  Health: succeeded({ data: schema('HealthData') }),
  Description: { type: 'object', description: 'This document.', additionalProperties: true },
  ErrorCode: oneOfWords(ERROR_CODES),
  FieldErrors: {
    type: 'object',
    description: 'Each invalid field with its sentences.',
    additionalProperties: list(TEXT),
  },
  Failure: object(
    {
      success: { ...TRUTH, description: 'Always false.' },
      error: schema('ErrorCode'),
      message: TEXT,
    },
    {
      details: schema('FieldErrors'),
      existing_id: { ...ID, description: 'The record that has the `external_id` or the name.' },
    },
  ),
  GatewayFailure: object({ message: TEXT }, { success: TRUTH, error: schema('ErrorCode') }),
};
