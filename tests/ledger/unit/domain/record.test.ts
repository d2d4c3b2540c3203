// The times and the version that each write gives a record.
import { describe, expect, test } from 'vitest';
import {
  createFirstRevision,
  createNextRevision,
  isStoredAs,
} from '../../../../lib/ledger/domain/record.ts';

test('the first write of a record gives it both times and version 1', () => {
  expect(createFirstRevision(new Date(5))).toEqual({ createdAt: 5, updatedAt: 5, version: 1 });
});

test.each([
  [5, 9, 9],
  [9, 9, 10],
  [9, 5, 10],
])('after a write at %i, a write at %i is recorded at %i', (updatedAt, now, recorded) => {
  expect(createNextRevision({ createdAt: 1, updatedAt, version: 3 }, new Date(now))).toEqual({
    createdAt: 1,
    updatedAt: recorded,
    version: 4,
  });
});

describe('isStoredAs', () => {
  const WRITTEN = { createdAt: 1, updatedAt: 5, version: 2, amount: -0, notes: null };

  test.each([
    ['the record as it was written', { ...WRITTEN, amount: 0 }, true],
    ['the record with a field that was not written', { ...WRITTEN, count: 3 }, true],
    ['another write of the same version', { ...WRITTEN, notes: 'theirs' }, false],
    ['the previous version', { ...WRITTEN, version: 1 }, false],
    ['a later version', { ...WRITTEN, version: 3 }, undefined],
    ['no record', undefined, undefined],
  ])('recognizes %s', (_, stored, expected) => {
    expect(isStoredAs<Record<string, unknown> & typeof WRITTEN>(WRITTEN, stored as never)).toBe(
      expected,
    );
  });
});
