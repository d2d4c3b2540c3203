// Plans an import and its categories: those that the file names, those of rules, and those learned from earlier rows. It is pure,
// so that both the command and the page can use it.
import {
  type CategoryChoices,
  type CategoryNames,
  chooseCategories,
  createCategoryNames,
  type KnownCategory,
} from './category-names.ts';
import type { CategoryRule } from './category-rules.ts';
import { type CategorisedRow, type DescribedRow, learnCategories } from './learned-categories.ts';
import { type ImportPlan, type PlanOptions, planImport } from './plan.ts';
import { createRecordedRows, type RecordedPart } from './recorded-rows.ts';
import type { Statement } from './statement.ts';
import type { LedgerRow, StatementRow, TransactionRow } from './transaction-row.ts';

export interface CategoryOptions {
  /** True if categories are learned from earlier rows. */
  readonly isLearning: boolean;
  readonly rules: readonly CategoryRule[];
}

/** Contents of the ledger, as read from the service. */
export interface StoredLedger {
  readonly rows: readonly LedgerRow[];
  readonly categories: readonly KnownCategory[];
  readonly imports: readonly RecordedPart[];
}

export interface CategorisedPlan {
  /** Rows of the statement, with the ledger's spelling of category names. */
  readonly rows: readonly StatementRow[];
  readonly plan: ImportPlan;
  readonly choices: CategoryChoices<StatementRow>;
  readonly names: CategoryNames;
}

export function planWithCategories(
  statement: Pick<Statement, 'rows' | 'isExport' | 'namesAccount'>,
  storedLedger: StoredLedger,
  options: CategoryOptions & Omit<PlanOptions, 'recorded'>,
): CategorisedPlan {
  const { isExport, namesAccount } = statement;
  const names = createCategoryNames(storedLedger.categories);
  // An export keeps its names exactly: the ledger may have categories that differ only in case.
  const rows = isExport ? statement.rows : statement.rows.map((row) => resolveCategory(row, names));
  const recorded = createRecordedRows(storedLedger.imports, storedLedger.rows);
  const isAccountKnown = options.isAccountKnown || namesAccount;
  const plan = planImport(rows, storedLedger.rows, { ...options, isAccountKnown, recorded });
  const uncategorisedRows = isExport
    ? []
    : plan.missing.filter(({ category }) => category === null);
  const choices = chooseForRows(uncategorisedRows, storedLedger.rows, { ...options, names });
  return { rows, choices, names, plan: fillCategories(plan, choices) };
}

/** @param ledger transactions to learn from; those without an active category are skipped */
export function chooseForRows<Row extends DescribedRow>(
  rows: readonly Row[],
  ledger: readonly TransactionRow[],
  { names, isLearning, rules }: CategoryOptions & { readonly names: CategoryNames },
): CategoryChoices<Row> {
  const isUsable = (row: TransactionRow): row is TransactionRow & CategorisedRow =>
    row.category !== null && !names.isInactive(row.category);
  const shouldLearn = isLearning && rows.length > 0;
  const propose = learnCategories(shouldLearn ? ledger.filter(isUsable) : []);
  return chooseCategories(rows, { names, rules, propose });
}

function resolveCategory(row: StatementRow, names: CategoryNames): StatementRow {
  return row.category === null ? row : { ...row, category: names.resolve(row.category) };
}

/** Replaces each categorised row wherever the plan has it. Rows are compared as objects: two equal ones are two entries. */
function fillCategories(plan: ImportPlan, { chosen }: CategoryChoices<StatementRow>): ImportPlan {
  const categorisedRows = new Map(chosen.map(({ row, category }) => [row, { ...row, category }]));
  const fill = (row: StatementRow) => categorisedRows.get(row) ?? row;
  return {
    ...plan,
    missing: plan.missing.map(fill),
    possibleDuplicates: plan.possibleDuplicates.map(({ row, transaction }) => ({
      row: fill(row),
      transaction,
    })),
  };
}
