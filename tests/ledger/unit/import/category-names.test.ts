// Category names in a file are matched to the categories of a ledger.
import { describe, expect, it } from 'vitest';
import {
  chooseCategories,
  createCategoryNames,
} from '../../../../lib/ledger/import/category-names.ts';
import { parseCategoryRules } from '../../../../lib/ledger/import/category-rules.ts';
import { learnCategories } from '../../../../lib/ledger/import/learned-categories.ts';

const KNOWN = [
  { name: 'Groceries', isActive: true },
  { name: 'Fuel', isActive: false },
  { name: 'fun', isActive: false },
  { name: 'FUN', isActive: true },
];

describe('createCategoryNames', () => {
  const names = createCategoryNames(KNOWN);

  it.each([
    ['Groceries', 'Groceries'],
    [' groceries ', 'Groceries'],
    ['fun', 'fun'],
    ['Fun', 'FUN'],
    ['Books', 'Books'],
    ['books', 'Books'],
  ])('reads %j as %s', (written, name) => {
    expect(names.resolve(written)).toBe(name);
  });

  it('knows which categories are inactive', () => {
    expect(['fuel', 'Groceries', 'Books'].map(names.isInactive)).toEqual([true, false, false]);
  });
});

describe('the choice of categories', () => {
  const earlierRows = ['Rewe 1', 'Rewe 2'].map((description) => ({
    description,
    type: 'expense' as const,
    category: 'Food',
  }));
  const rows = ['REWE 3', 'GROCER', 'Other'].map((description) => ({
    description,
    type: 'expense' as const,
  }));
  const choose = (rules: string) =>
    chooseCategories(rows, {
      names: createCategoryNames(KNOWN),
      rules: parseCategoryRules(rules),
      propose: learnCategories(earlierRows),
    });

  it('prefers rules to learned categories, and gives the reason', () => {
    const { chosen, uncategorised } = choose('grocer = groceries');
    expect(chosen).toEqual([
      {
        row: rows[0],
        category: 'Food',
        reason: 'like 2 earlier rows with "rewe"',
        source: 'learned',
      },
      { row: rows[1], category: 'Groceries', reason: 'by line 1 of the rules', source: 'rule' },
    ]);
    expect(uncategorised).toEqual([rows[2]]);
    expect(choose('rewe = Groceries').chosen).toMatchObject([
      { category: 'Groceries', source: 'rule' },
    ]);
  });
});
