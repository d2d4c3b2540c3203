// Plans an import: which rows the ledger has, which are new, which may be there under another id, and which rows of an
// edited export are changes.
import { counted, type Need, type RefusedLine } from './booking.ts';
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
export interface Pair {
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
  /** Rows that the ledger has from an import which was interrupted before it recorded them. */
  readonly unrecorded: readonly Pair[];
  /** Questions that the user must answer before anything is imported. */
  readonly needs: readonly Need[];
  /** Edited rows of an export that someone has changed in the ledger since, or that are one transaction. */
  readonly refused: readonly RefusedLine[];
}

const CHANGEABLE = [
  ...(['date', 'description', 'amount', 'type', 'category', 'notes', 'externalId'] as const),
];
type ChangeableField = (typeof CHANGEABLE)[number];

export interface PlanOptions {
  /** Rows that were deleted since are missing ones. */
  readonly importsDeleted?: boolean;
  /** The rows of earlier imports. */
  readonly recorded?: RecordedRows;
  /** The account has a name, or a person has looked at the preview: equal rows are one transaction. */
  readonly isAccountKnown?: boolean;
}

/** @param ledger all transactions */
export function planImport(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  { importsDeleted = false, recorded, isAccountKnown = false }: PlanOptions = {},
): ImportPlan {
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
  const rowsByMatch = Map.groupBy(pairs.keys(), (row) => pairs.get(row));
  for (const [row, there] of edited) {
    const fields = CHANGEABLE.filter((field) => row[field] !== there[field]);
    const { id, updatedAt } = there;
    const other = rowsByMatch.get(there)?.find((each) => each !== row);
    if (other) refused.push({ line: row.line, message: sameRecord(id, other) });
    else if (updatedAt === row.exported?.updatedAt) changes.push({ row, there, fields });
    else refused.push({ line: row.line, message: changedSince(id) });
  }
  const possibleDuplicates = findDuplicates(
    missing,
    ledger.filter((row) => !matched.has(row)),
    { recorded, firstDate: rows.map(({ date }) => date).toSorted()[0] ?? '' },
  );
  const paired = new Set(possibleDuplicates.map(({ there }) => there));
  const strangers = ledger.filter((there) => !matched.has(there) && !paired.has(there));
  return {
    present: pairs.size - edited.length,
    missing,
    deleted,
    changes,
    refused,
    reusedIds: countReusedIds(missing, ledger),
    possibleDuplicates,
    unrecorded: [...pairs].flatMap(([row, there]) =>
      row.exported === null && there.importId !== null && recorded?.has(row) === false
        ? { row, there }
        : [],
    ),
    needs: isAccountKnown ? [] : findOtherAccount(rows, pairs, strangers),
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

/**
 * Two accounts may have equal rows, and only a name tells them apart. A file that repeats rows of an import has its other rows of
 * these days, too; the file of another account has not.
 * @param strangers transactions that no row of the file is
 */
function findOtherAccount(
  rows: readonly StatementRow[],
  pairs: ReadonlyMap<StatementRow, LedgerRow>,
  strangers: readonly LedgerRow[],
): readonly Need[] {
  const dates = rows.map(({ date }) => date).toSorted();
  const [first = '', last = ''] = [dates[0], dates.at(-1)];
  const shared = Map.groupBy(
    [...pairs].filter(([row, { importId }]) => row.exported === null && importId !== null),
    ([, { importId }]) => importId,
  );
  const lacking = Map.groupBy(
    strangers.filter(({ date }) => first <= date && date <= last),
    ({ importId }) => importId,
  );
  return [...shared].flatMap(([importId, equal]): Need[] => {
    const others = lacking.get(importId)?.length ?? 0;
    if (others < equal.length) return [];
    const message = `${counted(equal.length, 'row')} of the file and of the import ${importId} are equal, and ${counted(others, 'other row')} of that import on these days ${others === 1 ? 'is' : 'are'} not in the file: it seems to be of another account. Name the account with --account NAME, the same each time. If it is the same account, add --as-it-is.`;
    return [{ question: 'account', message }];
  });
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
  const byRecord = new Map(ledger.map((there) => [recordKey(there), there]));
  for (const row of rows) {
    const there = row.exported && byRecord.get(recordKey(row.exported));
    if (there) pairs.set(row, there);
  }
  // The export of another ledger has no record of this one.
  const isOfThisLedger = pairs.size > 0;
  const edited = [...pairs].filter(([row, there]) => contentKey(row) !== contentKey(there));

  const byExternalId = Map.groupBy(ledger, ({ externalId }) => externalId);
  const taken = new Set(pairs.values());
  // Equal transactions without an external id are matched one to one with rows.
  const equal = Map.groupBy(
    ledger.filter((there) => !taken.has(there)),
    contentKey,
  );
  for (const row of rows.filter((each) => !pairs.has(each))) {
    const there =
      row.externalId === null
        ? equal.get(contentKey(row))?.shift()
        : findStored(row, byExternalId, taken);
    if (there) {
      pairs.set(row, there);
      taken.add(there);
    }
  }
  return { pairs, edited, isOfThisLedger };
}

/**
 * Finds a row by its identity, even if it was edited since, or by one that an earlier release stored. The bank's id alone, which releases
 * before this one stored, names a transaction only together with its date and amount: banks use ids again.
 */
function findStored(
  row: StatementRow,
  byExternalId: ReadonlyMap<string | null, readonly LedgerRow[]>,
  taken: ReadonlySet<LedgerRow>,
): LedgerRow | undefined {
  const { externalId, formerBankId, otherIds = [] } = row;
  const find = (id: string | null) => (id === null ? undefined : byExternalId.get(id)?.[0]);
  const stored =
    find(externalId) ?? find(row.formerId) ?? otherIds.map(find).find((there) => there);
  if (stored || formerBankId === null) return stored;
  return byExternalId
    .get(formerBankId)
    ?.find((there) => !taken.has(there) && matchKey(there) === matchKey(row));
}

/**
 * One transaction is the possible duplicate of one row: one with its date, type and amount, or one that has the row's id from
 * an earlier release and was edited, so that its date and amount say nothing. Else one of a near date: a booking that was pending,
 * or that another file of the bank has by the date of the purchase. Else one whose amount or date was edited.
 */
function findDuplicates(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  { recorded, firstDate }: DuplicateOptions,
): Pair[] {
  const others = Map.groupBy(ledger, matchKey);
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
    const same = others.get(matchKey(row));
    pair(
      row,
      same?.shift() ?? (formerBankId === null ? undefined : edited.get(formerBankId)?.find(isFree)),
    );
  }
  // Only of what is left: a transaction of the same date is the likelier one.
  const findNear = createNearFinder(others, firstDate);
  for (const row of rows.filter((each) => !pairs.has(each))) pair(row, findNear(row).find(isFree));
  const findEdited = createEditedFinder(ledger, recorded);
  for (const row of rows.filter((each) => !pairs.has(each)))
    pair(row, findEdited(row).find(isFree));
  return rows.flatMap((row) => {
    const there = pairs.get(row);
    return there ? { row, there } : [];
  });
}

interface DuplicateOptions {
  readonly recorded: RecordedRows | undefined;
  /** Earliest date in the file; it has no transactions before it. */
  readonly firstDate: string;
}

/**
 * Finds transactions that were edited and may have been the row before: their record says so, or they share its date and a
 * word of its text.
 */
function createEditedFinder(ledger: readonly LedgerRow[], recorded: RecordedRows | undefined) {
  const edited = ledger.filter(
    (there) => there.createdAt !== there.updatedAt && !recorded?.isOnlyCategorised(there),
  );
  const byDate = Map.groupBy(edited, ({ date }) => date);
  const byAmount = Map.groupBy(edited, ({ type, amount }) => `${type} ${amount}`);
  return (row: StatementRow): readonly LedgerRow[] => {
    if (edited.length === 0) return [];
    const ofDate = byDate.get(row.date)?.slice(0, MAX_COMPARED) ?? [];
    const ofAmount = byAmount.get(`${row.type} ${row.amount}`)?.slice(0, MAX_COMPARED) ?? [];
    const sharesWord = createWordMatcher(row);
    return [
      ...[...ofDate, ...ofAmount].filter((there) => recorded?.wasImportedAs(there, row)),
      ...ofDate.filter((there) => there.type === row.type && sharesWord(there)),
    ];
  };
}

/** Finds transactions of a near date with the row's type and amount, and a word of its text; the nearest first. */
function createNearFinder(byKey: ReadonlyMap<string, readonly LedgerRow[]>, firstDate: string) {
  const nearDates = new Map<string, readonly string[]>();
  return (row: StatementRow): readonly LedgerRow[] => {
    if (byKey.size === 0) return [];
    const { date } = row;
    const dates = nearDates.get(date) ?? listNearDates(date).filter((near) => near >= firstDate);
    nearDates.set(date, dates);
    const found = dates.flatMap(
      (near) => byKey.get(matchKey({ ...row, date: near }))?.slice(0, MAX_COMPARED) ?? [],
    );
    return found.length === 0 ? [] : found.filter(createWordMatcher(row));
  };
}

/** Matches rows that share a word with this row's description. */
function createWordMatcher(row: TransactionRow): (there: TransactionRow) => boolean {
  const words = new Set(listWords(row.description));
  return ({ description }) => listWords(description).some((word) => words.has(word));
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

function matchKey({ date, type, amount }: TransactionRow): string {
  return `${date} ${type} ${amount}`;
}

function recordKey({ id, createdAt }: ExportedRecord): string {
  return `${id} ${createdAt}`;
}

function contentKey(row: TransactionRow): string {
  return JSON.stringify(CHANGEABLE.map((field) => row[field]));
}
