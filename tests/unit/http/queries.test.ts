// What lists may be asked for, and what a path id is.
import { describe, expect, test } from 'vitest';
import { canonicalId, isAssignableId } from '../../../lib/domain/record.ts';
import { parseCategoryQuery } from '../../../lib/http/category-json.ts';
import { parseTransactionQuery } from '../../../lib/http/transaction-json.ts';

describe('parseTransactionQuery', () => {
  test('defaults: everything, page 1, 20 a page', () => {
    expect(parseTransactionQuery({})).toStrictEqual({
      type: undefined,
      categoryId: undefined,
      externalId: undefined,
      search: undefined,
      importId: undefined,
      isOldestFirst: false,
      startDate: undefined,
      endDate: undefined,
      page: 1,
      perPage: 20,
    });
  });

  test('everything sent is taken over', () => {
    const query = {
      type: 'income',
      category_id: '7',
      start_date: '2024-01-01',
      end_date: '2024-02-29',
      page: '3',
      per_page: '100',
    };
    expect(parseTransactionQuery(query)).toStrictEqual({
      type: 'income',
      categoryId: 7,
      externalId: undefined,
      search: undefined,
      importId: undefined,
      isOldestFirst: false,
      startDate: '2024-01-01',
      endDate: '2024-02-29',
      page: 3,
      perPage: 100,
    });
  });

  test('"none" asks for what has no category', () => {
    expect(parseTransactionQuery({ category_id: 'none' }).categoryId).toBeNull();
  });

  test.each([
    [{ page: '0' }, 'Must be at least 1.'],
    [{ per_page: '0' }, 'Must be at least 1.'],
    [{ per_page: '101' }, 'Must be at most 100.'],
    [{ page: '' }, 'Must be one whole number in plain decimal digits.'],
    [{ category_id: '1,1' }, 'Must be one whole number in plain decimal digits, or "none".'],
    [{ category_id: 'None' }, 'Must be one whole number in plain decimal digits, or "none".'],
    [{ type: '' }, 'Must be "income" or "expense".'],
    [{ start_date: '2023-02-29' }, 'Must be a real calendar date written YYYY-MM-DD.'],
    [{ catgeory_id: '1' }, 'Is not a known parameter.'],
  ])('%j: %s', (query, sentence) => {
    const [field = ''] = Object.keys(query);
    expect(() => parseTransactionQuery(query)).toThrow(
      expect.objectContaining({
        message: 'Filter validation failed',
        details: { [field]: [sentence] },
      }),
    );
  });
});

describe('parseCategoryQuery: true is the word alone, in any case', () => {
  test.each([
    [{}, { activeOnly: true, includeCounts: false }],
    [
      { active_only: 'TRUE', include_counts: 'True' },
      { activeOnly: true, includeCounts: true },
    ],
    [
      { active_only: '1', include_counts: 'yes' },
      { activeOnly: false, includeCounts: false },
    ],
    [
      { active_only: '', include_counts: '' },
      { activeOnly: false, includeCounts: false },
    ],
    [{ active_only: 'true,true' }, { activeOnly: false, includeCounts: false }],
  ])('%j', (query, expected) => expect(parseCategoryQuery(query)).toEqual(expected));

  test('an unknown parameter is an error that names it', () => {
    expect(() => parseCategoryQuery({ active_only: 'true', page: '1' })).toThrow(
      expect.objectContaining({
        message: 'Filter validation failed',
        details: { page: ['Is not a known parameter.'] },
      }),
    );
  });
});

describe('canonicalId', () => {
  test.each([
    ['1', 1],
    ['42', 42],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is an id', (text, id) => expect(canonicalId(text)).toBe(id));

  test.each(['', '0', '007', '-1', '+1', '1.0', '1e3', ' 1', '1\n', '１', '9007199254740992'])(
    '%j is none',
    (text) => expect(canonicalId(text)).toBeUndefined(),
  );
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
  'no record was ever given the id %d',
  (id) => expect(isAssignableId(id)).toBe(false),
);
