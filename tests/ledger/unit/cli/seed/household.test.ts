// The generated household has the figures that benchmarks and capacity limits rely on.
import { describe, expect, it } from 'vitest';
import {
  createHouseholdCategories,
  generateHouseholdTransactions,
} from '../../../../../cli/ledger/seed/household.ts';
import { parseNewCategory } from '../../../../../lib/ledger/http/category-json.ts';
import { parseNewTransaction } from '../../../../../lib/ledger/http/transaction-json.ts';

const CATEGORY_IDS = createHouseholdCategories().map((_, index) => index + 1);

function generateHistory(transactions: number, years: number, seed = 1) {
  const options = { transactions, years, seed, lastDay: '2026-06-30', categoryIds: CATEGORY_IDS };
  return [...generateHouseholdTransactions(options)];
}

describe.each([
  { transactions: 10_000, years: 10, firstYear: '2016' },
  { transactions: 10_000, years: 50, firstYear: '1976' },
  { transactions: 100_000, years: 10, firstYear: '2016' },
])('$transactions transactions over $years years', ({ transactions, years, firstYear }) => {
  const entries = generateHistory(transactions, years);

  it('are the requested number, oldest first, from the first year to the last day', () => {
    const dates = entries.map(({ date }) => date);
    expect(dates).toHaveLength(transactions);
    expect(dates).toEqual([...dates].sort());
    expect(dates.at(0)?.slice(0, 4)).toBe(firstYear);
    expect(dates.at(-1)?.slice(0, 7)).toBe('2026-06');
  });

  it('are about one fifth income, and use all thirty categories or none', () => {
    const income = entries.filter(({ type }) => type === 'income').length;
    expect(income / transactions).toBeGreaterThan(0.18);
    expect(income / transactions).toBeLessThan(0.24);
    expect(new Set(entries.map(({ categoryId }) => categoryId))).toEqual(
      new Set([...CATEGORY_IDS, null]),
    );
  });
});

describe('household', () => {
  it('depends on the seed alone', () => {
    expect(generateHistory(500, 2)).toEqual(generateHistory(500, 2));
    expect(generateHistory(500, 2)).not.toEqual(generateHistory(500, 2, 2));
  });

  it('is accepted by the service unchanged', () => {
    for (const { name, description, color } of createHouseholdCategories()) {
      expect(parseNewCategory({ name, description, color }).name).toBe(name);
    }
    for (const { date, categoryId, ...fields } of generateHistory(1_000, 3)) {
      const body = { ...fields, category_id: categoryId, transaction_date: date };
      expect(parseNewTransaction(body)).toEqual({ ...fields, date, categoryId });
    }
  });
});
