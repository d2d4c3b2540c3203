// What a transaction list may be asked for.
import * as v from 'valibot';
import { type CalendarDate, calendarDate } from './calendar-date.ts';
import { parseFilter } from './fields.ts';
import { type TransactionType, transactionType } from './transaction.ts';

export interface TransactionFilter {
  readonly type: TransactionType | undefined;
  /** Null: those without a category. */
  readonly categoryId: number | null | undefined;
  /** First day included. */
  readonly startDate: CalendarDate | undefined;
  /** Last day included. */
  readonly endDate: CalendarDate | undefined;
}

export interface TransactionQuery extends TransactionFilter {
  readonly page: number;
  readonly perPage: number;
}

export const DEFAULT_PER_PAGE = 20;
export const LARGEST_PER_PAGE = 100;

// A repeated parameter arrives as its values joined by commas, which none of these accepts.
const wholeNumber = v.pipe(
  v.string(),
  v.regex(/^\d+$/, 'Must be one whole number in plain decimal digits.'),
  v.transform(Number),
);

const categoryIdOrNone = v.union(
  [
    wholeNumber,
    v.pipe(
      v.literal('none'),
      v.transform(() => null),
    ),
  ],
  'Must be one whole number in plain decimal digits, or "none".',
);

const transactionQuery = v.object({
  type: v.exactOptional(transactionType),
  category_id: v.exactOptional(categoryIdOrNone),
  start_date: v.exactOptional(calendarDate),
  end_date: v.exactOptional(calendarDate),
  page: v.exactOptional(
    v.pipe(
      wholeNumber,
      v.minValue(1, 'Must be at least 1.'),
      v.maxValue(Number.MAX_SAFE_INTEGER, `Must be at most ${Number.MAX_SAFE_INTEGER}.`),
    ),
  ),
  per_page: v.exactOptional(
    v.pipe(
      wholeNumber,
      v.minValue(1, 'Must be at least 1.'),
      v.maxValue(LARGEST_PER_PAGE, `Must be at most ${LARGEST_PER_PAGE}.`),
    ),
  ),
});

/** @throws ValidationError with the faults of every parameter */
export function parseTransactionQuery(
  query: Readonly<Record<string, string | undefined>>,
): TransactionQuery {
  const sent = parseFilter(transactionQuery, query);
  return {
    type: sent.type,
    categoryId: sent.category_id,
    startDate: sent.start_date,
    endDate: sent.end_date,
    page: sent.page ?? 1,
    perPage: sent.per_page ?? DEFAULT_PER_PAGE,
  };
}
