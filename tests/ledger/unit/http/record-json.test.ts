// Records as clients send them: each field of docs/ledger/api.md, on create and on update.
import { describe, expect, test } from 'vitest';
import {
  parseCategoryChanges,
  parseNewCategory,
} from '../../../../lib/ledger/http/category-json.ts';
import {
  parseNewTransaction,
  parseTransactionChanges,
} from '../../../../lib/ledger/http/transaction-json.ts';

type Parse = (body: Readonly<Record<string, unknown>>) => object;

interface Field {
  /** Name of the field in the domain, if it differs */
  readonly as?: string;
  readonly accepts: readonly unknown[];
  /** Refused values by error message */
  readonly refuses: Readonly<Record<string, readonly unknown[]>>;
}

const LUNCH = { description: 'Lunch', amount: 12.5, type: 'expense' };
const NOT_STRINGS = [5, true, ['x'], { text: 'x' }];
const BLANK = ['', ' ', '\t\n', '\u00a0', '\u3000'];
const ILL_FORMED = ['a\ud83d', '\udc00b', '\udc00\ud83d'];

/** Texts that are one character too long */
const createTooLongTexts = (limit: number) => ({
  [`Must be at most ${limit} characters.`]: ['x', '🏠'].map((character) =>
    character.repeat(limit + 1),
  ),
});
const createLongestTexts = (limit: number) =>
  ['x', 'é', '給', '🏠'].map((character) => character.repeat(limit));

const TRANSACTION: Readonly<Record<string, Field>> = {
  description: {
    accepts: [' x ', '__proto__', ...createLongestTexts(1_000)],
    refuses: {
      'Must be a string.': [null, ...NOT_STRINGS],
      'Must not be blank.': BLANK,
      'Must be well-formed Unicode text.': ILL_FORMED,
      ...createTooLongTexts(1_000),
    },
  },
  amount: {
    accepts: [0, -0.01, 999_999_999_999.99, -999_999_999_999.99],
    refuses: {
      'Must be a number.': [null, '12.50', '', true, [1], { value: 1 }],
      'Must have at most 2 decimal places.': [1.005, 0.001, 1e-7, 0.1 + 0.2],
      // JSON.parse reads 1e400 as infinity.
      'Must lie between -999999999999.99 and 999999999999.99.': [1e12, -1e12, JSON.parse('1e400')],
    },
  },
  type: {
    accepts: ['income', 'expense'],
    refuses: {
      'Must be "income" or "expense".': [null, 'Income', 'transfer', '', ' income', 1, ['income']],
    },
  },
  category_id: {
    as: 'categoryId',
    accepts: [7, -3, null],
    refuses: {
      'Must be the id of a category (an integer) or null.': [
        ...['7', '', 1.5, 1e-7, true, [7], {}, JSON.parse('1e400')],
      ],
    },
  },
  transaction_date: {
    as: 'date',
    accepts: ['0001-01-01', '9999-12-31', '2024-02-29'],
    refuses: {
      'Must be a date written YYYY-MM-DD.': [null, 20240105, true, ['2024-01-05']],
      'Must be a real calendar date written YYYY-MM-DD.': ['', '2023-02-29', '2024-1-5', 'today'],
    },
  },
  notes: {
    accepts: [null, '', ' ', 'a\u0000b', ...createLongestTexts(5_000)],
    refuses: {
      'Must be a string.': NOT_STRINGS,
      'Must be well-formed Unicode text.': ILL_FORMED,
      ...createTooLongTexts(5_000),
    },
  },
  external_id: {
    as: 'externalId',
    accepts: ['bank#1', ...createLongestTexts(128)],
    refuses: {
      'Must be a string.': NOT_STRINGS,
      'Must not be blank.': BLANK,
      ...createTooLongTexts(128),
    },
  },
};

const CATEGORY: Readonly<Record<string, Field>> = {
  name: {
    accepts: ["it's", '__proto__', 'NUL\u0000inside', ...createLongestTexts(255)],
    refuses: {
      'Must be a string.': [null, ...NOT_STRINGS],
      'Must not be blank.': BLANK,
      'Must be well-formed Unicode text.': ILL_FORMED,
      ...createTooLongTexts(255),
    },
  },
  description: {
    accepts: [null, '', ' ', ...createLongestTexts(1_000)],
    refuses: {
      'Must be a string.': NOT_STRINGS,
      'Must be well-formed Unicode text.': ILL_FORMED,
      ...createTooLongTexts(1_000),
    },
  },
  color: {
    accepts: ['#fff', '#FfF', '#abcd', '#1A2b3C', '#11223344', null],
    refuses: {
      'Must be a string.': [5, []],
      'Must be a hex color code such as #1A2B3C.': [
        ...['', 'fff', '#', '#ff', '#fffff', '#fffffff', '#ggg', '#fff ', '#fff\n', 'red'],
      ],
    },
  },
  is_active: {
    as: 'isActive',
    accepts: [true, false],
    refuses: { 'Must be true or false.': ['true', 'false', 1, 0, null, ''] },
  },
};

const matchError = (details: object) =>
  expect.objectContaining({ name: 'ValidationError', details });

describe.each<[string, Parse, Parse, object, Readonly<Record<string, Field>>, string]>([
  ['transaction', parseNewTransaction, parseTransactionChanges, LUNCH, TRANSACTION, 'import_id'],
  [
    'category',
    parseNewCategory,
    parseCategoryChanges,
    { name: 'Food' },
    CATEGORY,
    'transaction_count',
  ],
])('%s', (_, create, update, required, fields, readOnlyField) => {
  describe.each(Object.entries(fields))('%s', (field, { as = field, accepts, refuses }) => {
    test.each(accepts)('accepts %j', (value) => {
      expect(create({ ...required, [field]: value })).toMatchObject({ [as]: value });
      expect(update({ [field]: value })).toStrictEqual({ [as]: value });
    });

    describe.each(Object.entries(refuses))('refuses with "%s"', (message, values) => {
      test.each(values)('the value %j', (value) => {
        const error = matchError({ [field]: [message] });
        expect(() => create({ ...required, [field]: value })).toThrow(error);
        expect(() => update({ [field]: value })).toThrow(error);
      });
    });
  });

  test('a refusal names every missing and every wrong field', () => {
    const names = Object.keys(required);
    const missing = Object.fromEntries(names.map((name) => [name, ['Is required.']]));
    const unknown = { other: ['Is not a known field.'] };
    expect(() => create({ other: 1 })).toThrow(matchError({ ...missing, ...unknown }));
    expect(() => update({ other: 1 })).toThrow(matchError(unknown));
  });

  test('fields that only the service sets are not changes', () => {
    const readOnly = { id: 5, created_at: 1, updated_at: null, etag: 'x', [readOnlyField]: 9 };
    expect(update(readOnly)).toStrictEqual({});
  });
});

test('omitted fields are empty, and the ledger chooses the date', () => {
  expect(parseNewTransaction(LUNCH)).toStrictEqual({ ...LUNCH, categoryId: null, notes: null });
  const food = { name: 'Food', description: null, color: null, isActive: true };
  expect(parseNewCategory({ name: ' \tFood\u00a0\n' })).toStrictEqual(food);
});

describe('import_id', () => {
  const create = (import_id: unknown) => parseNewTransaction({ ...LUNCH, import_id });

  test('is set only on create', () => {
    expect(create('Umsätze 3.csv')).toMatchObject({ importId: 'Umsätze 3.csv' });
    expect(create(null)).not.toHaveProperty('importId');
    expect(parseTransactionChanges({ import_id: 'other' })).toStrictEqual({});
  });

  test.each(['', '  ', 'x'.repeat(65), 'two\nlines', 'tab\t', 'zero\u0000', 5])(
    'is refused as %j',
    (import_id) => {
      expect(() => create(import_id)).toThrow(matchError({ import_id: expect.any(Array) }));
    },
  );
});
