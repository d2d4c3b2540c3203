// The order of the list, and the words of a refusal.
import { expect, test } from 'vitest';
import { byName, type Category, categoryInUse } from '../../../lib/domain/category.ts';

test('categories are sorted by the bytes of their names, then by id', () => {
  const names = ['10', '9', 'B', 'a', 'aa', 'b', 'é', '\uffee', '🏠', '🏠'];
  const sorted = names.map((name, index) => ({ name, id: index + 1 }) as Category);
  expect(sorted.toReversed().toSorted(byName)).toEqual(sorted);
});

test.each([
  [1, 'with 1 transaction. Please reassign or delete the transaction first.'],
  [2, 'with 2 transactions. Please reassign or delete the transactions first.'],
])('a category with %i in use says so', (count, end) => {
  const message = `Cannot delete category ${end}`;
  expect(categoryInUse(count)).toMatchObject({ name: 'ConflictError', message });
});
