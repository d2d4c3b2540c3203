// Plans an import: finds the rows that the ledger has already, those that it lacks, those that it may have under another id, and
// the changes in an edited export.
import type { Question, RefusedLine } from './entry.ts';
import { findOtherNames, type OtherName } from './other-names.ts';
import { askAboutAccount, findOverlap } from './overlapping-imports.ts';
import { findDuplicates, findRebooked, type Pair, toMatchKey } from './possible-duplicates.ts';
import type { RecordedRows } from './recorded-rows.ts';
import { readBankId } from './row-ids.ts';
import {
  type ExportedRecord,
  type LedgerRow,
  type StatementRow,
  type TransactionRow,
  toTransactionBody,
} from './transaction-row.ts';

export interface Change extends Pair {
  readonly fields: readonly ChangeableField[];
}

export interface ImportPlan {
  /** Number of rows that the ledger has already. */
  readonly present: number;
  /** Rows already in the ledger that were imported under another name of the account. */
  readonly otherNames: readonly OtherName[];
  readonly missing: readonly StatementRow[];
  /** Rows that were deleted from the ledger after an export of it, or after an earlier import. */
  readonly deleted: readonly StatementRow[];
  /**
   * Missing rows that an interrupted import, or one under another name of the account, may have created: they may have been
   * deleted since.
   */
  readonly possiblyDeleted: readonly StatementRow[];
  /** Missing rows that may be a transaction of the ledger, each with that transaction. */
  readonly possibleDuplicates: readonly Pair[];
  /** Transactions of the imports that the file repeats, without an equal or similar row in the file. */
  readonly vanished: readonly LedgerRow[];
  /** Number of missing rows with a bank's id that the ledger has with another date or amount. */
  readonly reusedIds: number;
  readonly changes: readonly Change[];
  /** Questions that the user must answer before anything is imported. */
  readonly questions: readonly Question[];
  /** Edited rows of an export whose transaction was changed in the ledger since, or matches another row of the file too. */
  readonly refused: readonly RefusedLine[];
}

const CHANGEABLE = [
  ...(['date', 'description', 'amount', 'type', 'category', 'notes', 'externalId'] as const),
];
type ChangeableField = (typeof CHANGEABLE)[number];

export interface PlanOptions {
  /** True if deleted rows count as missing, and are imported again. */
  readonly importsDeleted?: boolean;
  /** The rows of earlier imports. */
  readonly recorded?: RecordedRows;
  /** The name that the user gave the account. */
  readonly account?: string | undefined;
  /** True if the account has a name, or the user has accepted the preview: equal rows are then one transaction. */
  readonly isAccountKnown?: boolean;
}

/** @param ledger all transactions of the ledger */
export function planImport(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  options: PlanOptions = {},
): ImportPlan {
  const { importsDeleted = false, recorded, account } = options;
  const { pairs, edited, isFromThisLedger } = matchRows(rows, ledger);
  const otherNames = findOtherNames({ rows, ledger, pairs, recorded, account });
  for (const otherName of otherNames)
    for (const [row, transaction] of otherName.pairs) pairs.set(row, transaction);
  const deletedUnderOtherNames = new Set(otherNames.flatMap((each) => each.deleted));
  const possiblyDeleted = new Set(otherNames.flatMap((each) => each.possiblyDeleted));
  const wasImported = (row: StatementRow) => {
    const { id, createdAt } = row.exported ?? {};
    const wasExported = isFromThisLedger && id && createdAt;
    return wasExported || recorded?.has(row) || deletedUnderOtherNames.has(row);
  };
  const { deleted = [], missing = [] } = Object.groupBy(
    rows.filter((row) => !pairs.has(row)),
    (row) => (!importsDeleted && wasImported(row) ? 'deleted' : 'missing'),
  );
  const matchedTransactions = new Set(pairs.values());
  const unmatched = ledger.filter((transaction) => !matchedTransactions.has(transaction));
  return {
    present: pairs.size - edited.length,
    otherNames: otherNames.filter((each) => each.pairs.size > 0),
    missing,
    deleted,
    possiblyDeleted: missing.filter(
      (row) => recorded?.isPossiblyCreated(row) || possiblyDeleted.has(row),
    ),
    ...planChanges(edited, pairs),
    reusedIds: countReusedIds(missing, ledger),
    ...compareUnmatched({ rows, pairs, missing, unmatched }, options),
  };
}

interface Comparison {
  readonly rows: readonly StatementRow[];
  readonly pairs: ReadonlyMap<StatementRow, LedgerRow>;
  readonly missing: readonly StatementRow[];
  /** Transactions that match no row of the file. */
  readonly unmatched: readonly LedgerRow[];
}

/**
 * Compares the rows and transactions without a match. A row that looks rebooked does not prove why a transaction is missing from
 * the file: a file of another account has such rows too.
 */
function compareUnmatched(
  { rows, pairs, missing, unmatched }: Comparison,
  { recorded, isAccountKnown = false }: PlanOptions,
): Pick<ImportPlan, 'possibleDuplicates' | 'vanished' | 'questions'> {
  if (unmatched.length === 0) return { possibleDuplicates: [], vanished: [], questions: [] };
  const overlap = findOverlap(rows, pairs, unmatched);
  const duplicatePairs = findDuplicates(missing, unmatched, recorded);
  const explainedTransactions = new Set(duplicatePairs.map(({ transaction }) => transaction));
  const duplicateRows = new Set(duplicatePairs.map(({ row }) => row));
  const unexplained = unmatched.filter((transaction) => !explainedTransactions.has(transaction));
  const rebookedPairs = findRebooked(
    missing.filter((row) => !duplicateRows.has(row)),
    unexplained,
    {
      firstDate: overlap.period.first,
      vanished: overlap.missingFromFile.filter(
        (transaction) => !explainedTransactions.has(transaction),
      ),
    },
  );
  const possibleDuplicates = [...duplicatePairs, ...rebookedPairs];
  const pairedTransactions = new Set(possibleDuplicates.map(({ transaction }) => transaction));
  return {
    possibleDuplicates: possibleDuplicates.toSorted((a, b) => a.row.line - b.row.line),
    vanished: overlap.missingFromFile.filter((transaction) => !pairedTransactions.has(transaction)),
    questions: isAccountKnown ? [] : askAboutAccount({ ...overlap, unexplained, missing }),
  };
}

/**
 * Turns edited rows of an export into changes. A row is refused if its transaction was changed since, or matches another row of
 * the file too.
 */
function planChanges(
  edited: readonly (readonly [StatementRow, LedgerRow])[],
  pairs: ReadonlyMap<StatementRow, LedgerRow>,
): Pick<ImportPlan, 'changes' | 'refused'> {
  const changes: Change[] = [];
  const refused: RefusedLine[] = [];
  const rowsByMatch = Map.groupBy(edited.length === 0 ? [] : pairs.keys(), (row) => pairs.get(row));
  for (const [row, transaction] of edited) {
    const fields = CHANGEABLE.filter((field) => row[field] !== transaction[field]);
    const { id, updatedAt } = transaction;
    const otherRow = rowsByMatch.get(transaction)?.find((each) => each !== row);
    if (otherRow) refused.push({ line: row.line, message: describeSharedRecord(id, otherRow) });
    else if (updatedAt === row.exported?.updatedAt) changes.push({ row, transaction, fields });
    else refused.push({ line: row.line, message: describeChangedRecord(id) });
  }
  return { changes, refused };
}

/** Converts the fields that differ to an item of a bulk update, which applies only if the transaction is unchanged. */
export function toChangeBody(
  { row, transaction, fields }: Change,
  categoryId: number | null,
): object {
  const { transaction_date, external_id, ...otherFields } = toTransactionBody(row);
  const bodyByField: Readonly<Record<ChangeableField, object>> = {
    description: { description: otherFields.description },
    amount: { amount: otherFields.amount },
    type: { type: otherFields.type },
    notes: { notes: otherFields.notes },
    date: { transaction_date },
    category: { category_id: categoryId },
    externalId: { external_id },
  };
  const changedFields = Object.assign({}, ...fields.map((field) => bodyByField[field])) as object;
  return { id: Number(transaction.id), if_match: transaction.etag, ...changedFields };
}

export function describeChangedRecord(id: string): string {
  return `transaction ${id} was changed after the export. Export it again`;
}

function describeSharedRecord(id: string, { line }: StatementRow): string {
  return `line ${line} is transaction ${id} too. Empty the id and external_id of a row that should become a new transaction`;
}

/** Matches rows to transactions: by the id in an export, by the external id, or by all fields. */
function matchRows(rows: readonly StatementRow[], ledger: readonly LedgerRow[]) {
  const pairs = new Map<StatementRow, LedgerRow>();
  const isExport = rows.some(({ exported }) => exported !== null);
  const byRecord = new Map(
    isExport ? ledger.map((transaction) => [toRecordKey(transaction), transaction]) : [],
  );
  for (const row of rows) {
    const transaction = row.exported && byRecord.get(toRecordKey(row.exported));
    if (transaction) pairs.set(row, transaction);
  }
  // An export of another ledger matches no record of this one.
  const isFromThisLedger = pairs.size > 0;
  const edited = [...pairs].filter(
    ([row, transaction]) => toContentKey(row) !== toContentKey(transaction),
  );

  const byExternalId = Map.groupBy(ledger, ({ externalId }) => externalId);
  const usedTransactions = new Set(pairs.values());
  // Rows without an external id are matched one to one with equal transactions.
  const otherRows = rows.filter((row) => !pairs.has(row));
  const hasRowWithoutId = otherRows.some(({ externalId }) => externalId === null);
  const transactionsByContent = Map.groupBy(
    hasRowWithoutId ? ledger.filter((transaction) => !usedTransactions.has(transaction)) : [],
    toContentKey,
  );
  for (const row of otherRows) {
    const transaction =
      row.externalId === null
        ? transactionsByContent.get(toContentKey(row))?.shift()
        : findStored(row, byExternalId, usedTransactions);
    if (transaction) {
      pairs.set(row, transaction);
      usedTransactions.add(transaction);
    }
  }
  return { pairs, edited, isFromThisLedger };
}

/**
 * Finds the transaction of a row by the row's identity, which survives edits, or by an identity that an earlier release stored.
 * Some releases stored the bank's id alone, which identifies a transaction only together with its date and amount: banks reuse
 * ids.
 */
function findStored(
  row: StatementRow,
  byExternalId: ReadonlyMap<string | null, readonly LedgerRow[]>,
  usedTransactions: ReadonlySet<LedgerRow>,
): LedgerRow | undefined {
  if (byExternalId.size === 0) return undefined;
  const { externalId, legacyBankId, otherIds } = row;
  const find = (id: string | null) => (id === null ? undefined : byExternalId.get(id)?.[0]);
  const storedTransaction = find(externalId) ?? otherIds?.().map(find).find(Boolean);
  if (storedTransaction || legacyBankId === null) return storedTransaction;
  return byExternalId
    .get(legacyBankId)
    ?.find(
      (transaction) =>
        !usedTransactions.has(transaction) && toMatchKey(transaction) === toMatchKey(row),
    );
}

function countReusedIds(rows: readonly StatementRow[], ledger: readonly LedgerRow[]): number {
  const rowsWithId = rows.filter(({ bankId }) => bankId !== null);
  if (rowsWithId.length === 0) return 0;
  const ids = new Set(ledger.map(({ externalId }) => externalId && readBankId(externalId)));
  return rowsWithId.filter(({ bankId }) => ids.has(bankId)).length;
}

function toRecordKey({ id, createdAt }: ExportedRecord): string {
  return `${id} ${createdAt}`;
}

function toContentKey(row: TransactionRow): string {
  return JSON.stringify(CHANGEABLE.map((field) => row[field]));
}
