// What an import shows before it changes anything.
import { fromCents, toCents } from '../../../lib/ledger/domain/money.ts';
import type { TransactionType } from '../../../lib/ledger/domain/transaction.ts';
import { counted, type RefusedLine } from '../../../lib/ledger/import/csv-table.ts';
import type { Change, ImportPlan } from '../../../lib/ledger/import/plan.ts';
import type { Statement, TransactionRow } from '../../../lib/ledger/import/statement.ts';
import { asPrintable } from '../../../lib/shared/printable.ts';
import type { EncodedText } from './read-text.ts';

const FIRST_ROWS = 5;
const MOST_SHOWN = 20;

/** How the file was read. */
export function showStatement(statement: Statement, encoding: EncodedText['encoding']): void {
  const { isExport, headerLine, columns, ignored, decimal, dateOrder, rows, repeated } = statement;
  if (isExport) console.log('an export of this service');
  if (encoding !== 'UTF-8') console.log(`encoding: ${encoding}`);
  if (headerLine > 1) console.log(`header: line ${headerLine}`);
  for (const [field, header] of Object.entries(columns)) print(`${field}: column "${header}"`);
  if (ignored.length > 0 && !isExport)
    print(`ignored: ${ignored.map((header) => `column "${header}"`).join(', ')}`);
  if (rows.length > 0) console.log('first rows, as they would be imported:');
  for (const row of rows.slice(0, FIRST_ROWS)) print(`  line ${row.line}: ${textOf(row)}`);
  console.log(`decimal sign: ${decimal}\ndate order: ${dateOrder}`);
  const dates = rows.map((row) => row.date).toSorted();
  const total = (wanted: TransactionType) => {
    const cents = rows.flatMap(({ type, amount }) => (type === wanted ? [toCents(amount)] : []));
    return `${cents.length} ${wanted} (${fromCents(cents.reduce((sum, each) => sum + BigInt(each), 0n))})`;
  };
  if (repeated > 0)
    console.log(`left out, with the id of an earlier row: ${counted(repeated, 'row')}`);
  console.log(
    `${counted(rows.length, 'row')}${rangeOf(dates)}: ${total('income')}, ${total('expense')}`,
  );
}

/** @param dates in their order */
export function rangeOf(dates: readonly string[]): string {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined) return '';
  return first === last ? ` of ${first}` : ` from ${first} to ${last}`;
}

/** @param known names of the categories that are there */
export function showPlan(plan: ImportPlan, known: ReadonlySet<string>): void {
  const { present, missing, deleted, possibleDuplicates, changes } = plan;
  const rows = [...missing, ...changes.map(({ row }) => row)];
  const names = new Set(rows.flatMap(({ category }) => category ?? []));
  const added = [...names].filter((name) => !known.has(name));
  if (added.length > 0) print(`new categories: ${added.join(', ')}`);
  console.log(
    `${counted(present, 'row')} ${present === 1 ? 'is' : 'are'} there already, ${missing.length} ${missing.length === 1 ? 'is' : 'are'} new`,
  );
  showSome(
    `deleted meanwhile (${deleted.length}), imported with --import-deleted:`,
    deleted.map((row) => `  line ${row.line}: transaction ${row.exported?.id}: ${textOf(row)}`),
  );
  showSome(
    `possible duplicates (${possibleDuplicates.length}), with date, type and amount of a transaction that is there under another id:`,
    possibleDuplicates.map(({ row, there }) => {
      return `  line ${row.line}: ${textOf(row)} may be transaction ${there.id}: ${textOf(there)}`;
    }),
  );
  showSome(`changes (${changes.length}), applied with --update:`, changes.map(changeText));
}

export function showRefused(lines: readonly RefusedLine[]): void {
  for (const { line, message } of lines.slice(0, MOST_SHOWN))
    console.error(asPrintable(`line ${line} refused: ${message}`));
  if (lines.length > MOST_SHOWN) console.error(`and ${lines.length - MOST_SHOWN} more`);
}

export function showSome(title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  console.log(title);
  for (const line of lines.slice(0, MOST_SHOWN)) print(line);
  if (lines.length > MOST_SHOWN) console.log(`  and ${lines.length - MOST_SHOWN} more`);
}

function changeText({ row, there, fields }: Change): string {
  const quoted = (value: string | number | null) => JSON.stringify(value);
  const texts = fields.map((field) => `${field} ${quoted(there[field])} to ${quoted(row[field])}`);
  return `  line ${row.line}: transaction ${there.id}: ${texts.join(', ')}`;
}

export function textOf({
  date,
  type,
  amount,
  description,
  category,
  notes,
}: TransactionRow): string {
  const more = Object.entries({ category, notes }).flatMap(([field, text]) =>
    text === null ? [] : `, ${field} "${text}"`,
  );
  return `${date} ${type} ${amount} "${description}"${more.join('')}`;
}

export function print(line: string): void {
  console.log(asPrintable(line));
}
