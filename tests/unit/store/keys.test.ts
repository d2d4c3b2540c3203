// Keys: what they look like, that reads find what writes put, and that their order is that of the list.
import { describe, expect, test } from 'vitest';
import { createKeys } from '../../../lib/store/keys.ts';
import table from '../../../lib/store/table.json' with { type: 'json' };

const keys = createKeys('home');
const ROW = { type: 'income', categoryId: 7, date: '2024-02-29', createdAt: 0, id: 12 } as const;

describe('the keys of the table', () => {
  test.each([
    ['transaction', keys.transaction(12), { pk: 'home#TRANSACTION#12', sk: '-' }],
    ['category', keys.category(12), { pk: 'home#CATEGORIES', sk: '0000000000000012' }],
    ['name', keys.categoryName('Food'), { pk: 'home#CATEGORY_NAMES', sk: 'Food' }],
    ['sequence', keys.sequence('category'), { pk: 'home#SEQUENCES', sk: 'category' }],
  ])('%s', (_, key, expected) => expect(key).toEqual(expected));

  test('of the histograms', () => {
    expect([keys.days(), keys.days(7)]).toEqual(['home#DAYS', 'home#DAYS#7']);
  });

  test('all start with the ledger', () => {
    const all = [
      keys.transaction(1).pk,
      keys.categories,
      keys.categoryNames,
      keys.sequence('category').pk,
      keys.days(),
      keys.indexed(ROW).all_key,
      keys.indexed(ROW).type_key,
      keys.indexed(ROW).category_key,
      keys.indexed(ROW).category_type_key,
    ];
    for (const key of all) expect(key?.split('#')[0]).toBe('home');
  });
});

describe('a filter finds the index and the partition that a row is put into', () => {
  test.each([
    [{ type: undefined, categoryId: undefined }],
    [{ type: 'income', categoryId: undefined }],
    [{ type: undefined, categoryId: 7 }],
    [{ type: 'income', categoryId: 7 }],
  ] as const)('%j', (facet) => {
    const { index, attribute, value } = keys.partition(facet);
    expect(keys.indexed(ROW)).toMatchObject({ [attribute]: value });
    const definition = table.GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === index);
    expect(definition?.KeySchema).toEqual([
      { AttributeName: attribute, KeyType: 'HASH' },
      { AttributeName: 'date_key', KeyType: 'RANGE' },
    ]);
  });

  test('category 0 is a category, not the lack of one', () => {
    expect(keys.partition({ type: undefined, categoryId: 0 }).value).toBe('home#0');
  });

  test.each([undefined, 'income'] as const)('without a category, and type %s', (type) => {
    const { attribute, value } = keys.partition({ type, categoryId: null });
    expect(keys.indexed({ ...ROW, categoryId: null })).toMatchObject({ [attribute]: value });
    expect(keys.indexed(ROW)).not.toMatchObject({ [attribute]: value });
  });
});
