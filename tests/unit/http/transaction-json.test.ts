// What a client may say of a transaction.
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../../lib/errors.ts';
import {
  parseNewTransaction,
  parseTransactionChanges,
} from '../../../lib/http/transaction-json.ts';

const LUNCH = { description: 'Lunch', amount: 12.5, type: 'expense' };

describe('parseNewTransaction', () => {
  test('what is not sent is empty, but for the date, which is the ledger’s to choose', () => {
    expect(parseNewTransaction(LUNCH)).toStrictEqual({ ...LUNCH, categoryId: null, notes: null });
  });

  test('everything sent is taken over', () => {
    const body = { ...LUNCH, category_id: 7, transaction_date: '2024-02-29', notes: 'n' };
    expect(parseNewTransaction(body)).toStrictEqual({
      ...LUNCH,
      categoryId: 7,
      date: '2024-02-29',
      notes: 'n',
    });
  });

  test('every fault of every field is told', () => {
    const body = { amount: '5', type: 'gift', category_id: '7', transaction_date: null, notes: 5 };
    expect(() => parseNewTransaction(body)).toThrow(
      expect.objectContaining({
        name: 'ValidationError',
        details: {
          description: ['Is required.'],
          amount: ['Must be a number.'],
          type: ['Must be "income" or "expense".'],
          category_id: ['Must be the id of a category (an integer) or null.'],
          transaction_date: ['Must be a date written YYYY-MM-DD.'],
          notes: ['Must be a string.'],
        },
      }),
    );
  });
});

// JSON.parse makes infinity of 1e400.
test.each(['7', 1.5, JSON.parse('1e400'), true, [7]])(
  'category_id %j is refused with one sentence, the same for all',
  (category_id) => {
    const details = { category_id: ['Must be the id of a category (an integer) or null.'] };
    expect(() => parseNewTransaction({ ...LUNCH, category_id })).toThrow(
      expect.objectContaining({ details }),
    );
  },
);

describe('parseTransactionChanges', () => {
  test.each([
    [{ description: 'x' }, { description: 'x' }],
    [{ amount: 0 }, { amount: 0 }],
    [{ type: 'income' }, { type: 'income' }],
    [{ category_id: null }, { categoryId: null }],
    [{ category_id: -3 }, { categoryId: -3 }],
    [{ transaction_date: '2024-01-01' }, { date: '2024-01-01' }],
    [{ notes: null }, { notes: null }],
    [{ id: 5, category_name: 'x' }, {}],
  ])('%j changes exactly %j', (body, changes) => {
    expect(parseTransactionChanges(body)).toStrictEqual(changes);
  });

  test.each([{ description: null }, { amount: null }, { type: null }, { transaction_date: null }])(
    '%j is refused',
    (body) => expect(() => parseTransactionChanges(body)).toThrow(ValidationError),
  );
});
