// The message about a category that cannot be deleted.
import { expect, test } from 'vitest';
import { createCategoryInUseError } from '../../../../lib/ledger/domain/category.ts';

test.each([
  [1, 'with 1 transaction. Please reassign or delete the transaction first.'],
  [2, 'with 2 transactions. Please reassign or delete the transactions first.'],
])('a conflict counts the %i transactions that use a category', (count, end) => {
  const message = `Cannot delete category ${end}`;
  expect(createCategoryInUseError(count)).toMatchObject({ name: 'ConflictError', message });
});
