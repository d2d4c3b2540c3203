// Proposes categories for rows without one: in the preview of an import, and with --categorise for rows of the ledger.

import {
  type CategoryChoices,
  type CategoryNames,
  createCategoryNames,
} from '../../../lib/ledger/import/category-names.ts';
import {
  type CategoryRule,
  parseCategoryRules,
} from '../../../lib/ledger/import/category-rules.ts';
import { pluralize } from '../../../lib/ledger/import/entry.ts';
import type { DescribedRow } from '../../../lib/ledger/import/learned-categories.ts';
import {
  type CategoryOptions,
  chooseForRows,
} from '../../../lib/ledger/import/plan-with-categories.ts';
import type { LedgerRow, TransactionRow } from '../../../lib/ledger/import/transaction-row.ts';
import { firstLine, UserError } from '../../../lib/shared/user-error.ts';
import { EXIT } from '../../../processes/program.ts';
import { withProgressBar } from '../../progress.ts';
import type { ServiceClient } from '../service-client.ts';
import { readLedger } from './ledger-rows.ts';
import { print, showSome } from './preview.ts';
import { readBytes } from './read-file.ts';
import { applyChanges } from './upload.ts';

const MAX_EXAMPLES = 5;

/** @throws UserError if the file cannot be read, or a line is not a rule */
export function readRules(file: string | undefined): readonly CategoryRule[] {
  if (file === undefined) return [];
  const text = Buffer.from(readBytes(file)).toString();
  try {
    return parseCategoryRules(text);
  } catch (cause) {
    throw new UserError(`The rules in ${file} cannot be used: ${firstLine(cause)}`, { cause });
  }
}

/** @param labelRow names a row, such as `line 4` */
export function showChoices<Row extends DescribedRow>(
  { chosen, uncategorised }: CategoryChoices<Row>,
  labelRow: (row: Row) => string,
): void {
  if (chosen.length === 0) return;
  const count = (source: string) => chosen.filter((choice) => choice.source === source).length;
  print(
    `categories: ${count('learned')} like earlier rows, ${count('rule')} by rules, ${uncategorised.length} without a category`,
  );
  const examples = chosen.map(({ row, category, reason }) => {
    return `  ${labelRow(row)}: "${row.description}" is ${category}, ${reason}`;
  });
  const uncategorisedLines = uncategorised.map((row) => `  ${labelRow(row)}: "${row.description}"`);
  for (const example of examples.slice(0, MAX_EXAMPLES)) print(example);
  if (uncategorisedLines.length === 0) return;
  showSome(
    'without a category, unless --rules FILE has a line such as text = Category:',
    uncategorisedLines,
    MAX_EXAMPLES,
  );
}

/** Warns about rows in inactive categories, which the service would refuse. */
export function showInactive(rows: readonly TransactionRow[], names: CategoryNames): void {
  const inactiveRows = rows.filter(
    ({ category }) => category !== null && names.isInactive(category),
  );
  for (const [name, rowsOfCategory] of Map.groupBy(inactiveRows, ({ category }) => category))
    print(
      `the category "${name}" is inactive: ${pluralize(rowsOfCategory.length, 'row')} would be refused. Make it active first, or leave categories out with --category none.`,
    );
}

/** Proposes categories for the rows of the ledger that have none. */
export async function categoriseLedger(
  service: ServiceClient,
  options: CategoryOptions & { readonly isConfirmed: boolean },
): Promise<void> {
  const names = createCategoryNames(await service.readCategories());
  const ledger = await readLedger(service);
  const uncategorisedRows = ledger.filter(({ category }) => category === null);
  if (uncategorisedRows.length === 0) return console.log('Every row of the ledger has a category.');
  const choices = chooseForRows(uncategorisedRows, ledger, { ...options, names });
  showChoices(choices, labelTransaction);
  showInactive(
    choices.chosen.map(({ row, category }) => ({ ...row, category })),
    names,
  );
  if (choices.chosen.length === 0)
    return console.log(
      `${pluralize(uncategorisedRows.length, 'row')} without a category, none of them like earlier rows. Give rules with --rules FILE, one per line: text = Category.`,
    );
  if (!options.isConfirmed) return console.log('Nothing was changed. Add --yes to set them.');
  const changes = choices.chosen.map(({ row, category }) => ({
    row: { ...row, category, line: Number(row.id), ...NO_FILE },
    transaction: row,
    fields: ['category'] as const,
  }));
  const { changed, refused } = await withProgressBar(changes.length, (onProgress) =>
    applyChanges(service, changes, onProgress),
  );
  for (const { line, message } of refused) print(`transaction ${line} refused: ${message}`);
  console.log(`${pluralize(changed, 'row')} categorised, ${refused.length} refused`);
  if (refused.length > 0) process.exitCode = EXIT.failed;
}

/** Fields that only a row from a file has. */
const NO_FILE = { bankId: null, legacyBankId: null, exported: null };

function labelTransaction({ id }: LedgerRow): string {
  return `transaction ${id}`;
}
