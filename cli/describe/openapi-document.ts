// The OpenAPI document of the service, made from the schemas that validate requests and from lib/ledger/http/operations.ts.
import { type ConversionConfig, type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { SCOPES } from '../../lib/ledger/auth/caller.ts';
import { categoryFields } from '../../lib/ledger/http/category-json.ts';
import type { ObjectSchema } from '../../lib/ledger/http/fields.ts';
import { IDEMPOTENCY_KEY } from '../../lib/ledger/http/idempotency.ts';
import {
  OPERATIONS_BY_ROUTE,
  type Operation,
  PARAMETERS,
} from '../../lib/ledger/http/operations.ts';
import { ERROR_CODES } from '../../lib/ledger/http/replies.ts';
import { CSV_COLUMNS } from '../../lib/ledger/http/transaction-csv.ts';
import { transactionFields } from '../../lib/ledger/http/transaction-json.ts';

const ABOUT = `
Transactions and categories of a personal ledger. Every response has an \`X-Request-Id\`; failures carry \`error\`, a
\`message\` for people and, when fields are invalid, \`details\`.

**Key.** \`npm start\` needs none. On a deployed stage every request carries one:
\`npm run keys -- --stage prod create --name phone --ledger home\` prints it once. Press "Authorize" and paste it as it is.

A path or method that is not described here is answered with 404 \`not_found\` or 405 \`method_not_allowed\`, in the same
form. What the gateway itself refuses (429, 503, a body over 10 MB) has a bare \`{"message": "..."}\` instead.`;

const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  // From the last schema of a pipeline on: a name is judged after it was trimmed.
  typeMode: 'output',
  // What they check is in the metadata beside them, or true of every JSON text.
  ignoreActions: ['check', 'trim'],
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

/** @returns a JSON object, complete and in a stable order */
export function buildOpenApiDocument() {
  return {
    openapi: '3.1.1',
    info: { title: 'Finance ledger', version: '1.0.0', description: ABOUT.trim() },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths: pathsOf(OPERATIONS_BY_ROUTE),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (`fl_...`), or an access token of the configured OIDC issuer.',
        },
      },
      headers: HEADERS,
      schemas: SCHEMAS,
    },
  };
}

function pathsOf(operations: typeof OPERATIONS_BY_ROUTE) {
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ');
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = toOpenApi(method, path, operation);
  }
  return paths;
}

function toOpenApi(method: string, path: string, operation: Operation) {
  const { id, summary, description, body, example, isPublic } = operation;
  const tag = isPublic ? 'service' : path.split('/')[1];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description: description.replace(/\s+/g, ' ') }),
    ...(isPublic && { security: [] }),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(operation),
      ...headers(method, operation),
    ],
    ...(body && {
      requestBody: { required: true, content: jsonContent(toBodySchema(body), example) },
    }),
    responses: responsesOf(method, path, operation),
  };
}

function pathParameters(path: string) {
  if (!path.includes('{id}')) return [];
  const schema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
  return [{ name: 'id', in: 'path', required: true, ...PARAMETERS.id, schema }];
}

function queryParameters({ query, exampleQuery = {} }: Operation) {
  if (!query) return [];
  const { properties = {}, required = [] } = toJsonSchema(query, CONVERSION);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonSchema;
    return {
      name,
      in: 'query',
      ...(description ? { description } : PARAMETERS[name]),
      schema,
      ...(required.includes(name) && { required: true }),
      ...(exampleQuery[name] !== undefined && { example: exampleQuery[name] }),
    };
  });
}

function headers(method: string, { isVersioned, isIdempotent }: Operation) {
  const header = (name: string, description: string, schema: object) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string', ...schema },
  });
  const key = 'The same key with the same body is applied once in 24 hours.';
  if (isIdempotent) {
    return [header('Idempotency-Key', key, { pattern: IDEMPOTENCY_KEY.source })];
  }
  if (!isVersioned) return [];
  const tags = (tag: string) => ({
    pattern: `^(?:\\*|${tag}(?:, ?${tag})*)$`,
    examples: ['"t1.1.0f3a9c21"'],
  });
  const unchanged = 'ETags of this record: 304 if it would be shown as before.';
  return method === 'GET'
    ? [header('If-None-Match', unchanged, tags(`(?:W/)?${ETAG}`))]
    : [header('If-Match', 'ETags of this record: 412 if it has changed.', tags(ETAG))];
}

/** As this service makes them, and those of another. */
const ETAG = '"[!#-~]*"';

/** The statuses follow from what the operation takes; `failures` adds others or says more. */
function responsesOf(method: string, path: string, operation: Operation) {
  const { status = 200, response, body, query, failures = {}, isPublic } = operation;
  const { isVersioned, isIdempotent, asJson } = operation;
  const isWrite = method !== 'GET';
  const usual: Record<number, string | false | undefined> = {
    400:
      (body && 'The body is invalid.') ??
      (query && 'A parameter is invalid.') ??
      'A parameter was sent; there is none.',
    401: !isPublic && 'No valid key or token was sent.',
    403: !isPublic && 'The key or token does not allow the method.',
    404: path.includes('{id}') && 'There is no record with this id.',
    409: isIdempotent && 'A request with this Idempotency-Key is running.',
    412:
      isVersioned &&
      isWrite &&
      method !== 'POST' &&
      'The record has changed (If-Match): `ETag` is that of the present one.',
    413: body && 'The body is larger than 1 MB.',
    415: body && 'The body is compressed.',
    422: isIdempotent && 'The Idempotency-Key was used with another body.',
    500: !isPublic && unexpectedFailure(isWrite, isIdempotent),
    503: !isPublic && 'The issuer of access tokens cannot be reached.',
  };
  const failed = Object.entries({ ...usual, ...failures }).flatMap(([code, description]) =>
    description ? [[code, { description, ...failureHeaders(code), ...FAILURE }]] : [],
  );
  const hasTag = isVersioned && method !== 'DELETE';
  const succeeded = {
    description: 'Done.',
    ...responseHeaders(
      hasTag && 'ETag',
      isIdempotent && 'Idempotent-Replayed',
      asJson !== undefined && 'Content-Disposition',
      asJson !== undefined && 'Link',
    ),
    content: {
      [asJson ? 'text/csv' : 'application/json']: { schema: reference('schemas', response) },
      ...(asJson && jsonContent(reference('schemas', asJson))),
    },
  };
  const unchanged = {
    description: 'Nothing has changed (If-None-Match).',
    ...responseHeaders('ETag'),
  };
  return {
    [status]: succeeded,
    ...(hasTag && !isWrite && { 304: unchanged }),
    ...Object.fromEntries(failed),
  };
}

function failureHeaders(code: string) {
  return responseHeaders(
    code === '401' && 'WWW-Authenticate',
    code === '412' && 'ETag',
    ['409', '500', '503'].includes(code) && 'Retry-After',
  );
}

function unexpectedFailure(isWrite: boolean, isIdempotent = false): string {
  if (!isWrite) return 'An unexpected failure.';
  const next = isIdempotent
    ? 'repeat it with its Idempotency-Key'
    : 'read the record before repeating it';
  return `An unexpected failure. The request was not applied, unless all responses of the database were lost: ${next}.`;
}

const FAILURE = { content: jsonContent(reference('schemas', 'Failure')) };

const HEADERS = {
  'X-Request-Id': { schema: { type: 'string' }, required: true },
  ETag: { schema: { type: 'string' }, required: true },
  'Idempotent-Replayed': { schema: { const: 'true' } },
  'Content-Disposition': { schema: { type: 'string' }, description: 'Of a CSV file.' },
  Link: { schema: { type: 'string' } },
  'Retry-After': { schema: { type: 'integer' } },
  'WWW-Authenticate': { schema: { type: 'string' }, required: true },
};

function responseHeaders(...names: (keyof typeof HEADERS | false | undefined)[]) {
  const present = (['X-Request-Id', ...names] as const).filter((name) => !!name);
  const headers = present.map((name) => [name, reference('headers', name)]);
  return { headers: Object.fromEntries(headers) };
}

function jsonContent(schema: object, example?: object) {
  return { 'application/json': { schema, ...(example && { example }) } };
}

function reference(kind: 'schemas' | 'headers', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** No other field than those known. */
function toBodySchema(body: ObjectSchema) {
  const { properties, required } = toJsonSchema(body as v.GenericSchema, CONVERSION);
  return {
    type: 'object',
    properties,
    ...(required?.length ? { required } : {}),
    minProperties: 1,
    additionalProperties: false,
  };
}

/** The fields of a body as responses carry them: all there, and those that the service assigns. */
function recordSchema(body: ObjectSchema, optional: Record<string, object> = {}) {
  const { properties = {} } = toJsonSchema(body as v.GenericSchema, CONVERSION);
  const timestamp = { type: 'string', format: 'date-time' };
  const fields = { id: ID, ...properties, created_at: timestamp, updated_at: timestamp };
  return object(fields, optional);
}

function object(fields: Record<string, object>, optional: Record<string, object> = {}) {
  return {
    type: 'object',
    properties: { ...fields, ...optional },
    required: Object.keys(fields),
  };
}

const ID = { type: 'integer', minimum: 1 };
const COUNT = { type: 'integer', minimum: 0 };
const TEXT = { type: 'string' };
const FAILURE_FIELDS = {
  error: { enum: ERROR_CODES },
  message: TEXT,
  details: {
    type: 'object',
    description: 'Each invalid field with its sentences.',
    additionalProperties: { type: 'array', items: TEXT, minItems: 1 },
  },
  existing_id: { ...ID, description: 'The record that has the `external_id` or the name.' },
};
const SUM = { type: 'number', description: 'At most 2 decimals.' };
const TOTALS = { income: SUM, expense: SUM, net: SUM, count: COUNT };
const TOTALS_BY_PERIOD = Object.fromEntries(
  Object.entries(TOTALS).map(([name, items]) => [name, { type: 'array', items }]),
);
const summaryGroup = (figures: Record<string, object>) =>
  object(
    { key: { type: ['integer', 'string', 'null'] }, ...figures },
    { name: { type: ['string', 'null'], description: 'Of a category.' } },
  );
const succeeded = (fields: Record<string, object>) =>
  object({ success: { enum: [true] }, ...fields });

const TRANSACTION = recordSchema(v.omit(transactionFields, ['external_id', 'import_id']), {
  category_name: TEXT,
  external_id: TEXT,
  import_id: { ...TEXT, description: 'The import that created it.' },
});
const CATEGORY = recordSchema(categoryFields, {
  transaction_count: {
    ...COUNT,
    description: 'In single reads, and in lists requested with counts.',
  },
});

/** A record in a list. */
function rowSchema({ type, properties, required }: ReturnType<typeof object>) {
  const etag = { ...TEXT, description: 'What `If-Match` takes, with its quotes.' };
  return { type, properties: { ...properties, etag }, required: [...required, 'etag'] };
}

/** One result for each record: those that were applied, and those that were refused. */
function bulkResults(
  counts: readonly string[],
  status: number,
  fields: Record<string, object> = {},
) {
  const { details, existing_id, ...reason } = FAILURE_FIELDS;
  const refused = { enum: [400, 404, 409, 412, 422, 500] };
  const etag = { ...TEXT, description: 'Of the present record, with a 412.' };
  const items = {
    oneOf: [
      object({ index: COUNT, status: { enum: [status] }, id: ID, ...fields }),
      object({ index: COUNT, status: refused, ...reason }, { details, existing_id, etag }),
    ],
  };
  const counted = [...counts, 'failed'].map((name) => [name, COUNT]);
  return succeeded({
    data: object({ ...Object.fromEntries(counted), results: { type: 'array', items } }),
  });
}

const SCHEMAS: Readonly<Record<string, object>> = {
  Transaction: TRANSACTION,
  TransactionRow: rowSchema(TRANSACTION),
  Category: CATEGORY,
  CategoryRow: rowSchema(CATEGORY),
  Pagination: object({
    page: ID,
    per_page: ID,
    total: COUNT,
    pages: COUNT,
    has_next: { type: 'boolean' },
    has_prev: { type: 'boolean' },
  }),
  TransactionPage: succeeded({
    data: { type: 'array', items: reference('schemas', 'TransactionRow') },
    pagination: reference('schemas', 'Pagination'),
  }),
  TransactionSearch: succeeded({
    data: { type: 'array', items: reference('schemas', 'TransactionRow') },
    pagination: reference('schemas', 'Pagination'),
    summary: reference('schemas', 'Totals'),
  }),
  Totals: object(TOTALS),
  TransactionRead: succeeded({ data: reference('schemas', 'Transaction') }),
  TransactionWritten: succeeded({ data: reference('schemas', 'Transaction'), message: TEXT }),
  CategoryList: succeeded({
    data: { type: 'array', items: reference('schemas', 'CategoryRow') },
    count: COUNT,
  }),
  CategoryRead: succeeded({ data: reference('schemas', 'Category') }),
  CategoryWritten: succeeded({ data: reference('schemas', 'Category'), message: TEXT }),
  TransactionsFile: { ...TEXT, description: `Columns: ${CSV_COLUMNS.join(', ')}.` },
  TransactionsPart: succeeded({
    data: { type: 'array', items: reference('schemas', 'TransactionRow') },
    next: { type: ['string', 'null'], description: 'The query of the next part.' },
  }),
  TransactionResults: bulkResults(['created', 'duplicates'], 201, { etag: TEXT }),
  TransactionUpdates: bulkResults(['updated'], 200, { etag: TEXT }),
  TransactionDeletions: bulkResults(['deleted'], 200),
  Summary: succeeded({
    data: object(
      {
        ...TOTALS,
        groups: {
          type: 'array',
          items: { anyOf: [summaryGroup(TOTALS), summaryGroup(TOTALS_BY_PERIOD)] },
        },
      },
      {
        months: { type: 'array', items: TEXT, description: 'By a group and `month`.' },
        years: { type: 'array', items: TEXT, description: 'By a group and `year`.' },
      },
    ),
  }),
  ImportParts: succeeded({
    data: {
      type: 'array',
      items: object({ import_id: TEXT, part: ID, rows: { type: 'array', items: TEXT } }),
    },
    next: { type: ['string', 'null'], description: 'The query of the next page.' },
  }),
  ImportRecorded: succeeded({
    data: object({ import_id: TEXT, part: ID, recorded: COUNT }),
    message: TEXT,
  }),
  Me: succeeded({
    data: object(
      {
        ledger: TEXT,
        scope: { enum: SCOPES },
        kind: { enum: ['key', 'token', 'anonymous'] },
      },
      { key_id: TEXT, name: { ...TEXT, description: 'Of the key.' } },
    ),
  }),
  Deleted: succeeded({ message: TEXT }),
  Health: succeeded({ data: object({ status: { const: 'ok' } }, { table: { const: 'ok' } }) }),
  Description: { type: 'object', description: 'This document.' },
  Failure: object(
    { success: { enum: [false] }, error: FAILURE_FIELDS.error, message: TEXT },
    { details: FAILURE_FIELDS.details, existing_id: FAILURE_FIELDS.existing_id },
  ),
};
