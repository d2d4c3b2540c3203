// What a client may say of a category, the order of the list, and the words of a refusal.
import { describe, expect, test } from 'vitest';
import { byName, type Category, categoryInUse } from '../../../lib/domain/category.ts';
import { parseCategoryChanges, parseNewCategory } from '../../../lib/http/category-json.ts';

describe('parseNewCategory', () => {
  test('what is not sent is empty, and active', () => {
    expect(parseNewCategory({ name: ' Food ' })).toStrictEqual({
      name: 'Food',
      description: null,
      color: null,
      isActive: true,
    });
  });

  test('every fault of every field is told', () => {
    const body = { description: 5, color: 'red', is_active: 1 };
    expect(() => parseNewCategory(body)).toThrow(
      expect.objectContaining({
        name: 'ValidationError',
        details: {
          name: ['Is required.'],
          description: ['Must be a string.'],
          color: ['Must be a hex color code such as #1A2B3C.'],
          is_active: ['Must be true or false.'],
        },
      }),
    );
  });
});

test.each([
  [{ name: ' x ' }, { name: 'x' }],
  [{ description: null }, { description: null }],
  [{ color: '#fff' }, { color: '#fff' }],
  [{ is_active: false }, { isActive: false }],
  [{ transaction_count: 9 }, {}],
])('%j changes exactly %j', (body, changes) => {
  expect(parseCategoryChanges(body)).toStrictEqual(changes);
});

describe('byName', () => {
  const category = (name: string, id = 1) => ({ name, id }) as Category;

  test('goes by the bytes of the name, which is not how JavaScript compares texts', () => {
    const names = ['🏠', '\uffee', 'b', 'B', 'a', 'é', 'aa', '10', '9'];
    const sorted = names.map((name) => category(name)).toSorted(byName);
    expect(sorted.map(({ name }) => name)).toEqual([
      '10',
      '9',
      'B',
      'a',
      'aa',
      'b',
      'é',
      '\uffee',
      '🏠',
    ]);
  });

  test('then by id', () => {
    expect(byName(category('a', 2), category('a', 10))).toBeLessThan(0);
  });
});

test.each([
  [
    1,
    'Cannot delete category with 1 transaction. Please reassign or delete the transaction first.',
  ],
  [
    2,
    'Cannot delete category with 2 transactions. Please reassign or delete the transactions first.',
  ],
])('a category with %i in use says so', (count, message) => {
  expect(categoryInUse(count)).toMatchObject({ name: 'ConflictError', message });
});
