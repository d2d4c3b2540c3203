// Requests of every kind: sensible ones, sensible ones with something wrong in them, and plain nonsense.
import fc from 'fast-check';
import { anyText } from '../../../shared/support/any-text.ts';
import type { ApiRequest } from './api-client.ts';

export interface GeneratedRequest extends ApiRequest {
  readonly method: string;
  readonly path: string;
}

const shortText = anyText({ maxLength: 20 });

const EDGE_VALUES = [
  ...[null, true, false, '', ' ', 0, -0, 1, -1, 1.5, 0.1 + 0.2, 1e-7, 1e21, 2 ** 53, 5e-324],
  ...[[], {}, [1], { a: 1 }, 'x'.repeat(6_000), '🏠'.repeat(1_001), '\ud800', '\u0000'],
  ...['2023-02-29', '2024-02-29', '0000-00-00', '#fff', '12.50', 'income', '__proto__'],
];

const FIELD_VALUES = {
  description: fc.constantFrom('Lunch', 'Rent', ' x '),
  amount: fc.constantFrom(12.5, -3, 0, 999_999_999_999.99, 1.005),
  type: fc.constantFrom('income', 'expense', 'Income'),
  category_id: fc.constantFrom(null, 1, 2, 3, 7, -1, 999_999),
  transaction_date: fc.constantFrom('2024-02-29', '2024-01-31', '0001-01-01', '9999-12-31'),
  notes: fc.constantFrom(null, '', 'n'),
  import_id: fc.constantFrom(undefined, null, 'first', ''),
  name: fc.constantFrom('Food', ' Food ', 'Rent', 'food', 'Salary'),
  color: fc.constantFrom('#fff', '#1A2b3C', null, 'red'),
  is_active: fc.boolean(),
};

const unexpectedName = fc.constantFrom(
  ...['id', 'created_at', 'transaction_count', 'catgeory_id', '', '__proto__', 'constructor'],
  ...['toString', 'hasOwnProperty', 'prototype', 'version', 'pk'],
);

const unexpectedValue = fc.oneof(fc.constantFrom(...EDGE_VALUES), fc.jsonValue(), shortText);

/** Mostly known fields with mostly sensible values. */
const generatedFields = fc
  .tuple(
    fc.record(FIELD_VALUES, { requiredKeys: [] }),
    fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom(...Object.keys(FIELD_VALUES)), unexpectedName),
        unexpectedValue,
      ),
      { maxLength: 2 },
    ),
  )
  // Built from entries, so that `__proto__` becomes an own property.
  .map(([fields, unexpected]) => Object.fromEntries([...Object.entries(fields), ...unexpected]));

/** Bodies that are valid most of the time */
const transactionBody = fc.record(
  {
    ...FIELD_VALUES,
    name: fc.constant(undefined),
    color: fc.constant(undefined),
    is_active: fc.constant(undefined),
    amount: fc.integer({ min: -99_999, max: 99_999 }).map((cents) => cents / 100),
    type: fc.constantFrom('income', 'expense'),
    category_id: fc.constantFrom(undefined, null, 1, 2, 3),
  },
  { requiredKeys: ['description', 'amount', 'type'] },
);
const categoryBody = fc.record(
  {
    name: fc.oneof(shortText, FIELD_VALUES.name),
    color: fc.constantFrom('#fff', null),
    is_active: fc.boolean(),
  },
  { requiredKeys: ['name'] },
);

const rawBody = fc.oneof(
  { weight: 6, arbitrary: generatedFields.map(toJson) },
  { weight: 2, arbitrary: fc.jsonValue().map(toJson) },
  { weight: 1, arbitrary: generatedFields.map((fields) => toJson(fields).slice(0, -3)) },
  { weight: 1, arbitrary: shortText },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'null', '{}', '[]', '{"amount":1e400}') },
);

function toJson(value: unknown): string {
  return JSON.stringify(value);
}

const CONTENT_TYPES = [
  ...['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'image/png'],
  ...['application/octet-stream', 'application/vnd.api+json', 'text/html; charset=latin1'],
];

const QUERY_NAMES = [
  ...['type', 'category_id', 'start_date', 'end_date', 'page', 'per_page'],
  ...['active_only', 'include_counts', 'import_id', 'format', 'other', '__proto__'],
];

const queryValue = fc.oneof(
  fc.constantFrom('1', '2', '20', '100', '101', '0', '007', '-1', '1.5', '9'.repeat(30), ''),
  fc.constantFrom('income', 'expense', 'true', 'TRUE', '2024-02-29', '2023-02-29', '9999-12-31'),
  shortText,
);

/** Names may repeat. */
const generatedQuery = fc.array(
  fc.tuple(fc.oneof(fc.constantFrom(...QUERY_NAMES), shortText), queryValue),
  { maxLength: 4 },
);

const query = generatedQuery.map((pairs) => new URLSearchParams(pairs).toString());

const idSegment = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom('abc', '0', '-1', '1.5', '007', '9'.repeat(30)) },
  { weight: 1, arbitrary: shortText },
);

const path = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom('transactions', 'categories') },
      { weight: 1, arbitrary: shortText },
    ),
    fc.option(idSegment, { nil: undefined }),
    fc.constantFrom('', '', '', '/', '/more'),
  )
  .map(([resource, id, end]) => {
    const parts = id === undefined ? [resource] : [resource, id];
    return `/${parts.map(encodeURIComponent).join('/')}${end}`;
  });

const method = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE') },
  { weight: 1, arbitrary: fc.constantFrom('PATCH', 'OPTIONS') },
);

const anyRequest = fc
  .record({
    method,
    path,
    query,
    rawBody: fc.option(rawBody, { nil: undefined }),
    type: fc.constantFrom(...CONTENT_TYPES),
  })
  .map(({ method, path, query, rawBody, type }) => {
    const body = method === 'GET' || rawBody === undefined ? {} : { rawBody };
    return { method, path, query, headers: { 'content-type': type }, ...body };
  });

function writeRequest(resources: string, body: fc.Arbitrary<object>) {
  const target = fc.oneof(
    fc.constant({ method: 'POST', path: `/${resources}` }),
    fc.integer({ min: 1, max: 60 }).map((id) => ({ method: 'PUT', path: `/${resources}/${id}` })),
  );
  return fc
    .tuple(target, body)
    .map(([request, fields]) => ({ ...request, rawBody: toJson(fields) }));
}

const recordId = fc.integer({ min: 1, max: 60 });
const ifMatch = fc.constantFrom('*', '"t1.1.00000000"', '1', undefined);

/** Bulk requests, some of whose transactions are invalid, unknown or repeated */
const bulkRequest = fc
  .tuple(
    fc.constantFrom(
      { method: 'POST', path: '/transactions/bulk' },
      { method: 'PUT', path: '/transactions/bulk' },
      { method: 'POST', path: '/transactions/bulk/delete' },
    ),
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: transactionBody },
        { weight: 4, arbitrary: fc.record({ id: recordId, if_match: ifMatch }) },
        {
          weight: 2,
          arbitrary: fc.tuple(recordId, generatedFields).map(([id, fields]) => ({ ...fields, id })),
        },
        { weight: 1, arbitrary: unexpectedValue },
      ),
      { maxLength: 5 },
    ),
  )
  .map(([request, transactions]) => ({ ...request, rawBody: toJson({ transactions }) }));

/** Requests that read a whole ledger, or all rows that a filter selects */
const wholeLedgerRequest = fc
  .record({
    path: fc.constantFrom('/transactions', '/transactions/export', '/summary'),
    query: fc.oneof(
      fc.constantFrom('', 'type=expense', 'category_id=1', 'category_id=none', 'q=n'),
      fc.constantFrom('group_by=category', 'group_by=month', 'group_by=type&category_id=2'),
      fc.constantFrom('group_by=category,year', 'format=json', 'import_id=first'),
      fc.constantFrom('group_by=day&category_id=1,none', 'group_by=type,month&category_id=2,1,2'),
      fc.constantFrom(
        'group_by=day&start_date=2024-01-31&end_date=2024-02-29',
        'group_by=type,day&start_date=2023-02-28&end_date=2024-02-29',
      ),
      query,
    ),
  })
  .map((request) => ({ method: 'GET', ...request }));

export const generatedRequest: fc.Arbitrary<GeneratedRequest> = fc.oneof(
  { weight: 6, arbitrary: anyRequest },
  { weight: 1, arbitrary: wholeLedgerRequest },
  { weight: 1, arbitrary: bulkRequest },
  { weight: 1, arbitrary: writeRequest('transactions', transactionBody) },
  { weight: 1, arbitrary: writeRequest('categories', categoryBody) },
);
