// Records and page numbers as clients see them: every field, in the document's names, null when empty.
import { expect, test } from 'vitest';
import type { Category } from '../../../lib/domain/category.ts';
import type { NamedTransaction } from '../../../lib/domain/transaction.ts';
import { toCategoryJson, toCountedCategoryJson } from '../../../lib/http/category-json.ts';
import { toPaginationJson } from '../../../lib/http/replies.ts';
import { toTransactionJson } from '../../../lib/http/transaction-json.ts';

const INSTANTS = { createdAt: 0, updatedAt: 1_700_000_000_001 };
const WRITTEN = { created_at: '1970-01-01T00:00:00.000Z', updated_at: '2023-11-14T22:13:20.001Z' };

const LUNCH: NamedTransaction = {
  ...{ id: 1, description: 'Lunch', amount: -12.5, type: 'expense', date: '2024-02-29' },
  ...{ categoryId: 7, categoryName: 'Food', notes: null, version: 3, ...INSTANTS },
};

test('a transaction', () => {
  expect(toTransactionJson(LUNCH)).toStrictEqual({
    ...{ id: 1, description: 'Lunch', amount: -12.5, type: 'expense', notes: null },
    ...{ category_id: 7, category_name: 'Food', transaction_date: '2024-02-29', ...WRITTEN },
  });
});

test('a transaction without a category has no category_name', () => {
  const alone = toTransactionJson({ ...LUNCH, categoryId: null, categoryName: undefined });
  expect(alone).toMatchObject({ category_id: null });
  expect(Object.keys(alone)).not.toContain('category_name');
});

test('a category, with and without its count', () => {
  const food: Category = {
    ...{ id: 7, name: 'Food', description: null, color: '#abc', isActive: false },
    ...{ transactionCount: 2, version: 1, ...INSTANTS },
  };
  const json = {
    ...{ id: 7, name: 'Food', description: null, color: '#abc', is_active: false, ...WRITTEN },
  };
  expect(toCategoryJson(food)).toStrictEqual(json);
  expect(toCountedCategoryJson(food)).toStrictEqual({ ...json, transaction_count: 2 });
});

test('page numbers', () => {
  const pagination = { page: 2, perPage: 20, total: 61, pages: 4, hasNext: true, hasPrev: false };
  expect(toPaginationJson(pagination)).toStrictEqual({
    ...{ page: 2, per_page: 20, total: 61, pages: 4, has_next: true, has_prev: false },
  });
});
