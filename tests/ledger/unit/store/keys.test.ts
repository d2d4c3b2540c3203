// The keys of stored rows must not change: each release must find the rows of the previous one.
import { expect, test } from 'vitest';
import { createKeys } from '../../../../lib/ledger/store/keys.ts';

const keys = createKeys('home');

test('the keys in the table are those of earlier releases', () => {
  const row = { type: 'income', categoryId: 7, date: '2024-02-29', createdAt: 0, id: 12 } as const;
  expect(keys.transaction(12)).toEqual({ pk: 'home#TRANSACTION#12', sk: '-' });
  expect(keys.category(12)).toEqual({ pk: 'home#CATEGORIES', sk: '0000000000000012' });
  expect(keys.categoryName('Food')).toEqual({ pk: 'home#CATEGORY_NAMES', sk: 'Food' });
  expect(keys.sequence('category')).toEqual({ pk: 'home#SEQUENCES', sk: 'category' });
  const days = [keys.days(), keys.days(7), keys.days(null)];
  expect(days).toEqual(['home#DAYS', 'home#DAYS#7', 'home#DAYS#none']);
  expect(keys.indexAttributes(row)).toEqual({
    all_key: 'home',
    type_key: 'home#income',
    category_key: 'home#7',
    category_type_key: 'home#7#income',
    date_key: '2024-02-29#1970-01-01T00:00:00.000Z#0000000000000012',
  });
});

test('category 0 is not the same as no category', () => {
  expect(keys.partition({ type: undefined, categoryId: 0 }).value).toBe('home#0');
});
