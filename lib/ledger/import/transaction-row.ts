// The rows of a file and of the ledger, with the fields of a transaction, and the API's rules for them.
import * as v from 'valibot';
import { calendarDate } from '../domain/calendar-date.ts';
import { amount } from '../domain/money.ts';
import { nonBlankText, text, trimmedText } from '../domain/text.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../domain/transaction.ts';

/** Fields of a transaction that an import keeps. */
export interface TransactionRow {
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly date: string;
  readonly notes: string | null;
  readonly category: string | null;
  /** Null for a row of an export whose transaction has none. */
  readonly externalId: string | null;
}

export interface StatementRow extends TransactionRow {
  /** Line of the file, from 1. */
  readonly line: number;
  /** Computes the ids that the row had in earlier releases, or if the file was read differently. Few rows need them. */
  readonly otherIds?: () => readonly string[];
  /** Computes the row's id under another name of the account, or without one. Few rows need it. */
  readonly idWithAccount?: (account: string | undefined) => string | null;
  readonly bankId: string | null;
  /** The bank's id as earlier releases read it. It identifies a transaction only together with the date and amount. */
  readonly legacyBankId: string | null;
  /** True if the file has the balance after the row, which equal rows of two accounts seldom share. */
  readonly hasBalance?: boolean;
  /** The transaction's record in an export of a ledger; null for any other file. */
  readonly exported: ExportedRecord | null;
}

/** Id and times of a transaction, as strings. */
export interface ExportedRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A transaction of the ledger. */
export interface LedgerRow extends TransactionRow, ExportedRecord {
  /** Version of the transaction, for `If-Match`. */
  readonly etag: string;
  readonly importId: string | null;
}

/** Converts a row to the API's body, without its category. */
export function toTransactionBody(row: TransactionRow) {
  const { description, amount, type, notes, date, externalId } = row;
  return { description, amount, type, notes, transaction_date: date, external_id: externalId };
}

/** The API's rules: a row that breaks them is refused before anything is sent. */
const acceptedRow = v.object({
  description: nonBlankText(1_000),
  amount,
  type: v.picklist(TRANSACTION_TYPES),
  transaction_date: calendarDate,
  notes: v.nullable(text(5_000)),
  external_id: v.nullable(nonBlankText(128)),
  category: v.nullable(trimmedText(255)),
});

/** @throws Error if the API would refuse the row, or its category */
export function requireValid(row: TransactionRow): void {
  const { issues = [] } = v.safeParse(acceptedRow, {
    ...toTransactionBody(row),
    category: row.category,
  });
  const [issue] = issues;
  if (!issue) return;
  const field = v.getDotPath(issue) ?? '';
  const sentences = issues
    .filter((each) => v.getDotPath(each) === field)
    .map(({ message }) => message);
  throw new Error(`${field}: ${sentences.join(' ')}`);
}
