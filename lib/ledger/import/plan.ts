// What an import would do: which rows the ledger has, which are new, which may be there under another id, and which rows of
// an edited export are changes.
import type { RefusedLine } from './booking.ts';
import { listWords } from './learned-categories.ts';
import type { RecordedRows } from './recorded-rows.ts';
import { readBankId } from './row-ids.ts';
import {
  type ExportedRecord,
  type StatementRow,
  type TransactionRow,
  toTransactionBody,
} from './transaction-row.ts';

export interface LedgerRow extends TransactionRow, ExportedRecord {
  /** Names the version, for `If-Match`. */
  readonly etag: string;
  readonly importId: string | null;
}

/** A row, and a transaction of the ledger. */
interface Pair {
  readonly row: StatementRow;
  readonly there: LedgerRow;
}

export interface Change extends Pair {
  readonly fields: readonly ChangeableField[];
}

export interface ImportPlan {
  /** How many rows the ledger has already. */
  readonly present: number;
  readonly missing: readonly StatementRow[];
  /** Rows that the ledger had, and that were deleted since: of an export of this ledger, or of an earlier import. */
  readonly deleted: readonly StatementRow[];
  /** Those of the missing rows that have type, amount, and the same or a near date of a transaction that no row of the file is. */
  readonly possibleDuplicates: readonly Pair[];
  /** How many of the missing rows have a bank's id that the ledger has with another date or amount. */
  readonly reusedIds: number;
  readonly changes: readonly Change[];
  /** Edited rows of an export that someone has changed in the ledger since, or that are one transaction. */
  readonly refused: readonly RefusedLine[];
}

const CHANGEABLE = [
  ...(['date', 'description', 'amount', 'type', 'category', 'notes', 'externalId'] as const),
];
type ChangeableField = (typeof CHANGEABLE)[number];

/**
 * @param ledger all transactions
 * @param options `importsDeleted`: rows that were deleted since are missing ones; `recorded`: the rows of earlier imports
 */
export function planImport(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  options: {
    readonly importsDeleted?: boolean;
    readonly recorded?: Pick<RecordedRows, 'has'>;
  } = {},
): ImportPlan {
  const { importsDeleted = false, recorded } = options;
  const { pairs, edited, isOfThisLedger } = matchRows(rows, ledger);
  const matched = new Set(pairs.values());
  const { deleted = [], missing = [] } = Object.groupBy(
    rows.filter((row) => !pairs.has(row)),
    (row) => {
      const { id, createdAt } = row.exported ?? {};
      const wasThere = (isOfThisLedger && id && createdAt) || recorded?.has(row);
      return wasThere && !importsDeleted ? 'deleted' : 'missing';
    },
  );
  const changes: Change[] = [];
  const refused: RefusedLine[] = [];
  const rowsOf = Map.groupBy(pairs.keys(), (row) => pairs.get(row));
  for (const [row, there] of edited) {
    const fields = CHANGEABLE.filter((field) => row[field] !== there[field]);
    const { id, updatedAt } = there;
    const other = rowsOf.get(there)?.find((each) => each !== row);
    if (other) refused.push({ line: row.line, message: sameRecord(id, other) });
    else if (updatedAt === row.exported?.updatedAt) changes.push({ row, there, fields });
    else refused.push({ line: row.line, message: changedSince(id) });
  }
  return {
    present: pairs.size - edited.length,
    missing,
    deleted,
    changes,
    refused,
    reusedIds: countReusedIds(missing, ledger),
    possibleDuplicates: findDuplicates(
      missing,
      ledger.filter((row) => !matched.has(row)),
      rows.map(({ date }) => date).toSorted()[0] ?? '',
    ),
  };
}

/** The fields that differ, as a bulk update takes them: only if the transaction is still as it was exported. */
export function toChangeBody({ row, there, fields }: Change, categoryId: number | null): object {
  const { transaction_date, external_id, ...same } = toTransactionBody(row);
  const sent: Readonly<Record<ChangeableField, object>> = {
    description: { description: same.description },
    amount: { amount: same.amount },
    type: { type: same.type },
    notes: { notes: same.notes },
    date: { transaction_date },
    category: { category_id: categoryId },
    externalId: { external_id },
  };
  const changed = Object.assign({}, ...fields.map((field) => sent[field])) as object;
  return { id: Number(there.id), if_match: there.etag, ...changed };
}

export function changedSince(id: string): string {
  return `transaction ${id} was changed after the export. Export it again`;
}

function sameRecord(id: string, { line }: StatementRow): string {
  return `line ${line} is transaction ${id}, too. Empty the id and external_id of a row that is to be a new one`;
}

/** The transaction that each row is: by its id in an export, by its external id, or by all its fields. */
function matchRows(rows: readonly StatementRow[], ledger: readonly LedgerRow[]) {
  const pairs = new Map<StatementRow, LedgerRow>();
  const byRecord = new Map(ledger.map((there) => [recordOf(there), there]));
  for (const row of rows) {
    const there = row.exported && byRecord.get(recordOf(row.exported));
    if (there) pairs.set(row, there);
  }
  // The export of another ledger has no record of this one.
  const isOfThisLedger = pairs.size > 0;
  const edited = [...pairs].filter(([row, there]) => fieldsOf(row) !== fieldsOf(there));

  const byExternalId = Map.groupBy(ledger, ({ externalId }) => externalId);
  const taken = new Set(pairs.values());
  // Of equal transactions without an external id, each is one row.
  const equal = Map.groupBy(
    ledger.filter((there) => !taken.has(there)),
    fieldsOf,
  );
  for (const row of rows.filter((each) => !pairs.has(each))) {
    const there =
      row.externalId === null
        ? equal.get(fieldsOf(row))?.shift()
        : findStored(row, byExternalId, taken);
    if (there) {
      pairs.set(row, there);
      taken.add(there);
    }
  }
  return { pairs, edited, isOfThisLedger };
}

/**
 * By its identity, whatever was edited since, or by one that an earlier release stored. The bank's id alone, which releases
 * before this one stored, names a transaction only together with its date and amount: banks use ids again.
 */
function findStored(
  row: StatementRow,
  byExternalId: ReadonlyMap<string | null, readonly LedgerRow[]>,
  taken: ReadonlySet<LedgerRow>,
): LedgerRow | undefined {
  const { externalId, formerId, formerBankId } = row;
  const [stored] = [externalId, formerId].flatMap((id) => (id && byExternalId.get(id)) || []);
  if (stored || formerBankId === null) return stored;
  return byExternalId
    .get(formerBankId)
    ?.find((there) => !taken.has(there) && keyOf(there) === keyOf(row));
}

/**
 * One transaction is the possible duplicate of one row: one with its date, type and amount, or one that has the row's id from
 * an earlier release and was edited, so that its date and amount say nothing. Else one of a near date: a booking that was pending,
 * or that another file of the bank has by the date of the purchase.
 * @param firstDate of the file; transactions before it are not in the file
 */
function findDuplicates(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  firstDate: string,
): Pair[] {
  const others = Map.groupBy(ledger, keyOf);
  const used = new Set<LedgerRow>();
  const edited = Map.groupBy(
    ledger.filter(({ createdAt, updatedAt }) => createdAt !== updatedAt),
    ({ externalId }) => externalId,
  );
  const isFree = (there: LedgerRow) => !used.has(there);
  const pairs = new Map<StatementRow, LedgerRow>();
  const pair = (row: StatementRow, there: LedgerRow | undefined) => {
    if (!there || !isFree(there)) return;
    used.add(there);
    pairs.set(row, there);
  };
  for (const row of rows) {
    const { formerBankId } = row;
    const same = others.get(keyOf(row));
    pair(
      row,
      same?.shift() ?? (formerBankId === null ? undefined : edited.get(formerBankId)?.find(isFree)),
    );
  }
  // Only of what is left: a transaction of the same date is the likelier one.
  for (const row of rows.filter((each) => !pairs.has(each)))
    pair(row, findNear(row, others, firstDate).find(isFree));
  return rows.flatMap((row) => {
    const there = pairs.get(row);
    return there ? { row, there } : [];
  });
}

/** Transactions of a near date with the row's type and amount, and a word of its text; the nearest first. */
function findNear(
  row: StatementRow,
  byKey: ReadonlyMap<string, readonly LedgerRow[]>,
  firstDate: string,
): readonly LedgerRow[] {
  const words = new Set(listWords(row.description));
  return listNearDates(row.date)
    .filter((date) => date >= firstDate)
    .flatMap((date) => byKey.get(keyOf({ ...row, date }))?.slice(0, MAX_COMPARED) ?? [])
    .filter(({ description }) => listWords(description).some((word) => words.has(word)));
}

/** Between a purchase and its booking; a weekend and a holiday are among them. */
const MAX_DAYS_BETWEEN = 5;
/** Equal amounts of one day may be thousands. */
const MAX_COMPARED = 10;
const DAY_MILLISECONDS = 86_400_000;

/** The nearest first, without the date itself. */
function listNearDates(date: string): readonly string[] {
  const day = Date.parse(date);
  return Array.from({ length: MAX_DAYS_BETWEEN }, (_, n) => n + 1)
    .flatMap((distance) => [-distance, distance])
    .map((days) => new Date(day + days * DAY_MILLISECONDS).toISOString().slice(0, 10));
}

function countReusedIds(rows: readonly StatementRow[], ledger: readonly LedgerRow[]): number {
  const ids = new Set(ledger.map(({ externalId }) => externalId && readBankId(externalId)));
  return rows.filter(({ bankId }) => bankId !== null && ids.has(bankId)).length;
}

function keyOf({ date, type, amount }: TransactionRow): string {
  return `${date} ${type} ${amount}`;
}

function recordOf({ id, createdAt }: ExportedRecord): string {
  return `${id} ${createdAt}`;
}

function fieldsOf(row: TransactionRow): string {
  return JSON.stringify(CHANGEABLE.map((field) => row[field]));
}
