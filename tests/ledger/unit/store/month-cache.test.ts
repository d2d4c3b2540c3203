// The cache of months: rows are found by their digest, and the least recently used month is dropped first.
import { expect, test } from 'vitest';
import { sumDigest } from '../../../../lib/ledger/domain/month-digest.ts';
import { createMonthCache } from '../../../../lib/ledger/store/month-cache.ts';
import { createStoredTransaction } from '../../support/stored-records.ts';

const createRows = (...ids: number[]) =>
  ids.map((id) => createStoredTransaction(id, { description: 'x' }));
const LARGE_LIMIT = 1_000_000;

test('the cache finds rows by their digest', () => {
  const cache = createMonthCache(LARGE_LIMIT);
  const cachedRows = createRows(1, 2);
  cache.keep('home#2026-03', cachedRows);
  expect(cache.find('home#2026-03', sumDigest(cachedRows))).toBe(cachedRows);
  expect(cache.find('home#2026-03', sumDigest(createRows(1)))).toBeUndefined();
  expect(cache.find('other#2026-03', sumDigest(cachedRows))).toBeUndefined();
  const newerRows = createRows(1, 2, 3);
  cache.keep('home#2026-03', newerRows);
  expect(cache.find('home#2026-03', sumDigest(cachedRows))).toBeUndefined();
  expect(cache.find('home#2026-03', sumDigest(newerRows))).toBe(newerRows);
});

test('the cache drops the least recently used month', () => {
  const cache = createMonthCache(3 * 210);
  const find = (name: string, id: number) =>
    cache.find(name, sumDigest(createRows(id))) !== undefined;
  for (const id of [1, 2, 3]) cache.keep(`month ${id}`, createRows(id));
  expect(find('month 1', 1)).toBe(true);
  cache.keep('month 4', createRows(4));
  expect([1, 2, 3, 4].map((id) => find(`month ${id}`, id))).toEqual([true, false, true, true]);
  // A month that is cached again takes up its space only once.
  for (const _ of [1, 2, 3]) cache.keep('month 4', createRows(4));
  expect([1, 3, 4].map((id) => find(`month ${id}`, id))).toEqual([true, true, true]);
});

test('the cache keeps no month that is larger than its limit', () => {
  const cache = createMonthCache(1_000);
  cache.keep('small', createRows(1));
  const large = [createStoredTransaction(2, { description: 'x', notes: 'n'.repeat(1_000) })];
  cache.keep('large', large);
  expect(cache.find('large', sumDigest(large))).toBeUndefined();
  cache.keep('small', createRows(1));
  expect(cache.find('small', sumDigest(createRows(1)))).toBeDefined();
});
