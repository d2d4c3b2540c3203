// Valid and invalid queries of lists, and ids in paths.
import { describe, expect, test } from 'vitest';
import { isAssignableId, parseId } from '../../../../lib/ledger/domain/record.ts';
import { parseCategoryQuery } from '../../../../lib/ledger/http/category-json.ts';
import { parseTransactionQuery } from '../../../../lib/ledger/http/transaction-query.ts';

const DEFAULTS = { order: '-date', page: 1, perPage: 20 };

describe('parseTransactionQuery', () => {
  test.each([
    [{}, {}],
    [{ type: 'income' }, { type: 'income' }],
    [{ category_id: '7' }, { categoryId: 7 }],
    [{ category_id: 'none' }, { categoryId: null }],
    [
      { page: '007', per_page: '020' },
      { page: 7, perPage: 20 },
    ],
    [
      { page: '9007199254740991', per_page: '100' },
      { page: 2 ** 53 - 1, perPage: 100 },
    ],
    [{ sort: 'date' }, { order: 'date' }],
  ])('reads %j', (query, fields) => {
    expect(parseTransactionQuery(query)).toEqual({ ...DEFAULTS, ...fields });
  });

  const WHOLE_NUMBER = 'Must be one whole number in plain decimal digits.';
  const WHOLE_OR_NONE = 'Must be one whole number in plain decimal digits, or "none".';
  const NOT_DIGITS = [
    ...['', ' ', 'abc', '-1', '+1', '1.0', '1e1', '0x1', ' 1', '1 ', '１', '1,2', 'null'],
  ];
  const INVALID_DATES = [
    '',
    '2023-02-29',
    '0000-01-01',
    '2024-1-1',
    '2024-01-01T00:00',
    'today',
    '0',
  ];
  const REAL_DATE = 'Must be a real calendar date written YYYY-MM-DD.';

  describe.each<[name: string, message: string, values: string[]]>([
    ['page', WHOLE_NUMBER, NOT_DIGITS],
    ['page', 'Must be at least 1.', ['0', '00']],
    ['page', 'Must be at most 9007199254740991.', ['9'.repeat(30)]],
    ['per_page', WHOLE_NUMBER, NOT_DIGITS],
    ['per_page', 'Must be at least 1.', ['0']],
    ['per_page', 'Must be at most 100.', ['101', '9'.repeat(30)]],
    ['category_id', WHOLE_OR_NONE, [...NOT_DIGITS, 'None']],
    ['type', 'Must be "income" or "expense".', ['', 'Income', ' income', 'income,expense']],
    ['sort', 'Must be "date" or "-date".', ['', 'amount']],
    ['start_date', REAL_DATE, INVALID_DATES],
    ['end_date', REAL_DATE, INVALID_DATES],
  ])('refuses the parameter %s with "%s"', (name, message, values) => {
    test.each(values)('for the value %j', (value) => {
      const details = { [name]: [message] };
      expect(() => parseTransactionQuery({ [name]: value })).toThrow(
        expect.objectContaining({ message: 'Filter validation failed', details }),
      );
    });
  });
});

test.each([
  [undefined, { activeOnly: true, includeCounts: false }],
  ['tRuE', { activeOnly: true, includeCounts: true }],
  ['1', { activeOnly: false, includeCounts: false }],
  ['', { activeOnly: false, includeCounts: false }],
  [' true', { activeOnly: false, includeCounts: false }],
])('parseCategoryQuery reads only the word true as true, ignoring case: %j', (sent, query) => {
  const sentQuery = sent === undefined ? {} : { active_only: sent, include_counts: sent };
  expect(parseCategoryQuery(sentQuery)).toEqual(query);
});

describe('parseId', () => {
  test.each([
    ['1', 1],
    ['42', 42],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is an id', (text, id) => expect(parseId(text)).toBe(id));

  test.each([
    ...['', '0', '00', '007', '-1', '+1', '1.0', '1.5', '1e3', '0x10', ' 1', '1 ', '1\n', '\n1'],
    ...['1\u0000', '１', '1,2', "'1'", 'abc', 'null', '__proto__', '9007199254740992'],
  ])('%j is not an id', (text) => expect(parseId(text)).toBeUndefined());
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 53])('no record ever has the id %d', (id) =>
  expect(isAssignableId(id)).toBe(false),
);
