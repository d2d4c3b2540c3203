// Finds the categories of a file's rows: by name, regardless of case; by a rule; or from earlier rows.
import { type CategoryRule, findRule } from './category-rules.ts';
import type { DescribedRow, ProposeCategory } from './learned-categories.ts';

export interface KnownCategory {
  readonly name: string;
  readonly isActive: boolean;
}

/** Matches names regardless of case and surrounding spaces. */
export function createCategoryNames(knownCategories: readonly KnownCategory[]) {
  // If names differ only in case, an active category wins.
  const sortedCategories = knownCategories.toSorted(
    (a, b) => Number(a.isActive) - Number(b.isActive),
  );
  const byFoldedName = new Map(
    sortedCategories.map((category) => [foldCase(category.name), category]),
  );
  const byExactName = new Map(knownCategories.map((category) => [category.name, category]));

  function find(name: string): KnownCategory | undefined {
    return byExactName.get(name) ?? byFoldedName.get(foldCase(name));
  }

  return {
    find,
    /** Returns the category's name in the ledger; for a new category, its first spelling. */
    resolve: (name: string): string => {
      const knownCategory = find(name);
      if (knownCategory) return knownCategory.name;
      byFoldedName.set(foldCase(name), { name, isActive: true });
      return name;
    },
    isInactive: (name: string): boolean => find(name)?.isActive === false,
  };
}

export type CategoryNames = ReturnType<typeof createCategoryNames>;

function foldCase(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

export interface ChosenCategory<Row> {
  readonly row: Row;
  readonly category: string;
  /** The reason in words, such as `like 14 earlier rows with "grocer"`. */
  readonly reason: string;
  readonly source: 'rule' | 'learned';
}

export interface CategoryChoices<Row> {
  readonly chosen: readonly ChosenCategory<Row>[];
  /** Rows that stay without a category. */
  readonly uncategorised: readonly Row[];
}

/** Chooses categories for rows that have none. A rule outranks a category learned from earlier rows. */
export function chooseCategories<Row extends DescribedRow>(
  rows: readonly Row[],
  options: {
    readonly names: CategoryNames;
    readonly rules: readonly CategoryRule[];
    readonly propose: ProposeCategory;
  },
): CategoryChoices<Row> {
  const chosen: ChosenCategory<Row>[] = [];
  const uncategorised: Row[] = [];
  for (const row of rows) {
    const choice = chooseCategory(row, options);
    if (choice) chosen.push({ row, ...choice });
    else uncategorised.push(row);
  }
  return { chosen, uncategorised };
}

function chooseCategory(
  row: DescribedRow,
  { names, rules, propose }: Parameters<typeof chooseCategories>[1],
): Omit<ChosenCategory<unknown>, 'row'> | undefined {
  const rule = findRule(rules, row.description);
  if (rule) {
    const reason = `by line ${rule.line} of the rules`;
    return { category: names.resolve(rule.category), reason, source: 'rule' };
  }
  const proposal = propose(row);
  if (!proposal) return undefined;
  const reason = `like ${proposal.rows} earlier rows with "${proposal.words}"`;
  return { category: proposal.category, reason, source: 'learned' };
}
