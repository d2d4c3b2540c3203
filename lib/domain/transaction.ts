// A transaction: its fields, and what a client may say of them.
import * as v from 'valibot';
import { type CalendarDate, calendarDate } from './calendar-date.ts';
import { parseBody, sentOnly } from './fields.ts';
import { amount } from './money.ts';
import type { Revision } from './revision.ts';
import { filledText, text } from './text.ts';

export const TRANSACTION_TYPES = ['income', 'expense'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** What a client decides of a transaction. */
export interface TransactionFields {
  readonly description: string;
  /** In the household's currency, at most two decimals; negative for refunds and corrections. */
  readonly amount: number;
  readonly type: TransactionType;
  readonly categoryId: number | null;
  readonly date: CalendarDate;
  readonly notes: string | null;
}

export interface Transaction extends TransactionFields, Revision {
  readonly id: number;
}

export interface NamedTransaction extends Transaction {
  /** Undefined where the transaction has no category. */
  readonly categoryName: string | undefined;
}

/** A new transaction may leave its date to the ledger. */
export type NewTransaction = Omit<TransactionFields, 'date'> & { readonly date?: CalendarDate };
export type TransactionChanges = Partial<TransactionFields>;

export const transactionType = v.picklist(TRANSACTION_TYPES, 'Must be "income" or "expense".');

const newTransactionBody = v.object(
  {
    description: filledText(1_000),
    amount,
    type: transactionType,
    category_id: v.exactOptional(
      v.nullable(v.pipe(v.number('Must be an integer or null.'), v.integer('Must be an integer.'))),
    ),
    transaction_date: v.exactOptional(calendarDate),
    notes: v.exactOptional(v.nullable(text(5_000))),
  },
  'Is required.',
);

const transactionChangesBody = v.partial(newTransactionBody);

/** @throws ValidationError with the faults of every field */
export function parseNewTransaction(body: Readonly<Record<string, unknown>>): NewTransaction {
  const sent = parseBody(newTransactionBody, body);
  return {
    description: sent.description,
    amount: sent.amount,
    type: sent.type,
    categoryId: sent.category_id ?? null,
    notes: sent.notes ?? null,
    ...(sent.transaction_date === undefined ? {} : { date: sent.transaction_date }),
  };
}

/**
 * Only the fields that were sent.
 * @throws ValidationError with the faults of every field
 */
export function parseTransactionChanges(
  body: Readonly<Record<string, unknown>>,
): TransactionChanges {
  const sent = parseBody(transactionChangesBody, body);
  return sentOnly({
    description: sent.description,
    amount: sent.amount,
    type: sent.type,
    categoryId: sent.category_id,
    date: sent.transaction_date,
    notes: sent.notes,
  });
}
