// The times and versions of writes.
import { expect, test } from 'vitest';
import { firstRevision, nextRevision } from '../../../lib/domain/revision.ts';

test('a record is created when it is first written, as version 1', () => {
  expect(firstRevision(new Date(5))).toEqual({ createdAt: 5, updatedAt: 5, version: 1 });
});

test.each([
  [5, 9, 9],
  [9, 9, 10],
  [9, 5, 10],
])('after a write at %i, one at %i is told as %i', (updatedAt, now, told) => {
  expect(nextRevision({ createdAt: 1, updatedAt, version: 3 }, new Date(now))).toEqual({
    ...{ createdAt: 1, updatedAt: told, version: 4 },
  });
});
