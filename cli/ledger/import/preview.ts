// Prints the preview of an import, before it changes anything.
import { fromCents, toCents } from '../../../lib/ledger/domain/money.ts';
import type { TransactionType } from '../../../lib/ledger/domain/transaction.ts';
import {
  type LeftOutLine,
  pluralize,
  type Question,
  type RefusedLine,
} from '../../../lib/ledger/import/entry.ts';
import type { LayoutOptions } from '../../../lib/ledger/import/layouts.ts';
import type { Change, ImportPlan } from '../../../lib/ledger/import/plan.ts';
import type { Statement } from '../../../lib/ledger/import/statement.ts';
import type { TransactionRow } from '../../../lib/ledger/import/transaction-row.ts';
import { maskUnprintable } from '../../../lib/shared/printable.ts';

const MAX_EXAMPLES = 5;
const MAX_SHOWN_LINES = 20;

/** Prints how the file was read. */
export function showStatement(statement: Statement): void {
  const { isExport, format, encoding, headerLine, columns, ignored, rows } = statement;
  const { decimal, dateOrder, layout, leftOut } = statement;
  if (isExport) console.log('an export of this service');
  if (format !== 'CSV') console.log(`format: ${format}`);
  if (encoding !== null && encoding !== 'utf-8') console.log(`encoding: ${encoding}`);
  if (layout?.recalled) print(`remembered: ${describeOptions(layout.recalled)}`);
  if (layout && headerLine === 0) console.log('header: none');
  if (headerLine > 1) console.log(`header: line ${headerLine}`);
  const joinsTexts = (field: string) =>
    field === 'notes' ||
    (field === 'description' && layout?.used.columns?.description !== undefined);
  for (const [field, names] of Object.entries(columns))
    print(
      `${field}: column ${names.map((name) => `"${name}"`).join(joinsTexts(field) ? ', ' : ', else ')}`,
    );
  if (ignored.length > 0)
    print(`ignored: ${ignored.map((header) => `column "${header}"`).join(', ')}`);
  if (rows.length > 0) console.log('first rows, as they would be imported:');
  for (const row of rows.slice(0, MAX_EXAMPLES)) print(`  line ${row.line}: ${describeRow(row)}`);
  if (decimal !== null) console.log(`decimal sign: ${decimal}\ndate order: ${dateOrder}`);
  for (const finding of statement.findings) print(finding);
  showLeftOut(leftOut);
  const dates = rows.map((row) => row.date).toSorted();
  const describeTotal = (wantedType: TransactionType) => {
    const cents = rows.flatMap(({ type, amount }) =>
      type === wantedType ? [toCents(amount)] : [],
    );
    return `${cents.length} ${wantedType} (${fromCents(cents.reduce((sum, each) => sum + BigInt(each), 0n))})`;
  };
  console.log(
    `${pluralize(rows.length, 'row')}${describeDates(dates)}: ${describeTotal('income')}, ${describeTotal('expense')}`,
  );
}

function showLeftOut(lines: readonly LeftOutLine[]): void {
  for (const [reason, linesWithReason] of Map.groupBy(lines, (line) => line.reason))
    showSome(
      `left out, ${reason} (${linesWithReason.length}):`,
      linesWithReason.map(({ line, text }) => `  line ${line}: ${text}`),
    );
}

/** Prints the questions that only the user can answer. */
export function showQuestions(questions: readonly Question[]): void {
  for (const { message } of questions) console.error(maskUnprintable(message));
}

/** Names of the command's options that differ from the names of their settings. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  isInverted: 'invert',
  externalId: 'id',
  status: 'status-column',
  dateOrder: 'date-order',
  leaveOut: 'leave-out',
};

/** Describes options as `date "1", invert`. */
export function describeOptions(options: LayoutOptions): string {
  const describe = ([field, value]: [string, unknown]): string => {
    const name = OPTION_NAMES[field] ?? field;
    if (value === true) return name;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return Object.entries(value).map(describe).join(', ');
    return `${name} "${Array.isArray(value) ? value.join(', ') : value}"`;
  };
  return Object.entries(options).map(describe).join(', ');
}

/** @param dates in ascending order */
export function describeDates(dates: readonly string[]): string {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined) return '';
  return first === last ? ` of ${first}` : ` from ${first} to ${last}`;
}

/** @param knownNames names of the categories in the ledger */
export function showPlan(plan: ImportPlan, knownNames: ReadonlySet<string>): void {
  const { present, missing, changes } = plan;
  const rows = [...missing, ...changes.map(({ row }) => row)];
  const names = new Set(rows.flatMap(({ category }) => category ?? []));
  const addedNames = [...names].filter((name) => !knownNames.has(name));
  if (addedNames.length > 0) print(`new categories: ${addedNames.join(', ')}`);
  console.log(
    `${pluralize(present, 'row')} already ${present === 1 ? 'exists' : 'exist'}, ${missing.length} ${missing.length === 1 ? 'is' : 'are'} new`,
  );
  for (const { name, pairs } of plan.otherNames) {
    const accountText = name === undefined ? 'without an account name' : `as the account "${name}"`;
    print(
      `${pluralize(pairs.size, 'row')} of these ${pairs.size === 1 ? 'was' : 'were'} imported ${accountText}`,
    );
  }
  if (plan.reusedIds > 0)
    console.log(
      `${pluralize(plan.reusedIds, 'new row')} with an id that the ledger has with another date or amount: different transactions`,
    );
  showUncertain(plan);
  showSome(`changes (${changes.length}), applied only with --update:`, changes.map(describeChange));
}

/** Prints the rows about which the ledger and the file may disagree. */
function showUncertain({
  deleted,
  possiblyDeleted,
  possibleDuplicates,
  vanished,
}: ImportPlan): void {
  showSome(
    `deleted in the ledger (${deleted.length}), imported only with --import-deleted:`,
    deleted.map((row) => {
      const transaction = row.exported ? `transaction ${row.exported.id}: ` : '';
      return `  line ${row.line}: ${transaction}${describeRow(row)}`;
    }),
  );
  showSome(
    `new, unless you have deleted them (${possiblyDeleted.length}): an import of them was interrupted, or had another name for the account. Remove deleted ones from the file:`,
    possiblyDeleted.map((row) => `  line ${row.line}: ${describeRow(row)}`),
    MAX_EXAMPLES,
  );
  showSome(
    `possible duplicates (${possibleDuplicates.length}) of transactions that exist under another id:`,
    possibleDuplicates.map(({ row, transaction }) => {
      return `  line ${row.line}: ${describeRow(row)} may be transaction ${transaction.id}: ${describeRow(transaction)}`;
    }),
  );
  showSome(
    `no longer in the file (${vanished.length}), though other rows of their imports are; the bank may have withdrawn them:`,
    vanished.map((transaction) => `  transaction ${transaction.id}: ${describeRow(transaction)}`),
    MAX_EXAMPLES,
  );
}

export function showRefused(lines: readonly RefusedLine[]): void {
  for (const { line, message } of lines.slice(0, MAX_SHOWN_LINES))
    console.error(maskUnprintable(`line ${line} refused: ${message}`));
  if (lines.length > MAX_SHOWN_LINES) console.error(`and ${lines.length - MAX_SHOWN_LINES} more`);
}

export function showSome(title: string, lines: readonly string[], limit = MAX_SHOWN_LINES): void {
  if (lines.length === 0) return;
  console.log(title);
  for (const line of lines.slice(0, limit)) print(line);
  if (lines.length > limit) console.log(`  and ${lines.length - limit} more`);
}

function describeChange({ row, transaction, fields }: Change): string {
  const quote = (value: string | number | null) => JSON.stringify(value);
  const fieldChanges = fields.map(
    (field) => `${field} ${quote(transaction[field])} to ${quote(row[field])}`,
  );
  return `  line ${row.line}: transaction ${transaction.id}: ${fieldChanges.join(', ')}`;
}

export function describeRow({
  date,
  type,
  amount,
  description,
  category,
  notes,
}: TransactionRow): string {
  const details = Object.entries({ category, notes }).flatMap(([field, text]) =>
    text === null ? [] : `, ${field} "${text}"`,
  );
  return `${date} ${type} ${amount} "${description}"${details.join('')}`;
}

export function print(line: string): void {
  console.log(maskUnprintable(line));
}
