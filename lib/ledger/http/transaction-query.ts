// The parameters that filter and sort transactions, for lists, searches, summaries and exports.
import * as v from 'valibot';
import { calendarDate } from '../domain/calendar-date.ts';
import type { PageRequest, RowOrder } from '../domain/pagination.ts';
import { nonBlankText } from '../domain/text.ts';
import {
  type CategoriesFilter,
  DEFAULT_PER_PAGE,
  MAX_FILTER_CATEGORIES,
  MAX_FILTERED_ROWS,
  MAX_PER_PAGE,
  type TransactionFilter,
  type TransactionQuery,
  type TransactionSelection,
} from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import { pageCursor } from './cursor.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { importId, MAX_EXTERNAL_ID_LENGTH, transactionType } from './transaction-json.ts';

const wholeNumber = v.pipe(
  v.string(),
  v.regex(/^\d+$/, 'Must be one whole number in plain decimal digits.'),
  v.transform(Number),
);

const categoryIdOrNone = v.pipe(
  v.string(),
  v.regex(/^(?:\d+|none)$/, 'Must be one whole number in plain decimal digits, or "none".'),
  v.transform((value) => (value === 'none' ? null : Number(value))),
);

/** The parameters that filter transactions. */
export const transactionFilter = {
  type: v.exactOptional(transactionType),
  category_id: v.exactOptional(categoryIdOrNone),
  start_date: v.exactOptional(calendarDate),
  end_date: v.exactOptional(calendarDate),
};

const CATEGORY_IDS_RULE = `Must be up to ${MAX_FILTER_CATEGORIES} category ids, or "none", separated by commas.`;

/** Like `transactionFilter`, but `category_id` may have several ids. */
export const categoriesFilter = {
  ...transactionFilter,
  category_id: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^(?:none|[0-9]+)(?:,(?:none|[0-9]+))*$/, CATEGORY_IDS_RULE),
      v.transform(toCategoryIds),
      v.check((ids) => ids.length <= MAX_FILTER_CATEGORIES, CATEGORY_IDS_RULE),
      v.description(
        `Category ids, separated by commas; \`none\` for transactions without a category. At most ${MAX_FILTER_CATEGORIES}.`,
      ),
    ),
  ),
};

/** Filters that no index supports: every transaction that passes the other filters is read. */
const createSearchParameters = (rule = '') => ({
  import_id: v.exactOptional(
    v.pipe(importId, v.description(`The id of the import that created the transaction.${rule}`)),
  ),
  q: v.exactOptional(
    v.pipe(
      nonBlankText(100),
      v.description(`Text in the description or the notes, ignoring case.${rule}`),
    ),
  ),
});

export const transactionSelection = {
  ...transactionFilter,
  external_id: v.exactOptional(nonBlankText(MAX_EXTERNAL_ID_LENGTH)),
  ...createSearchParameters(),
};

export const pageParameters = {
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
      v.maxValue(MAX_PER_PAGE, `Must be at most ${MAX_PER_PAGE}.`),
    ),
  ),
  after: v.exactOptional(pageCursor),
};

/** @throws ValidationError for a page that is requested in two ways, or a cursor from another sort order */
export function toPageRequest({
  page,
  per_page: perPage = DEFAULT_PER_PAGE,
  after,
  sort: order = '-date',
}: v.InferOutput<v.ObjectSchema<typeof pageParameters, undefined>> & {
  sort?: RowOrder;
}): PageRequest {
  if (!after) return { page: page ?? 1, perPage, order };
  if (page !== undefined) {
    throw createCursorError(
      'Must not be sent with page: the cursor itself says where the page begins.',
    );
  }
  if (after.order !== order) {
    throw createCursorError(
      `Is a cursor of pages with sort=${after.order}: send that too, or begin without the cursor.`,
    );
  }
  return { perPage, after, order };
}

function createCursorError(sentence: string): ValidationError {
  return new ValidationError('Filter validation failed', { details: { after: [sentence] } });
}

export const transactionQuery = v.object({
  ...transactionSelection,
  ...createSearchParameters(
    ` Needs \`start_date\` and \`end_date\`; at most ${MAX_FILTERED_ROWS} transactions may match the other filters.`,
  ),
  sort: v.exactOptional(v.picklist(['date', '-date'], 'Must be "date" or "-date".')),
  ...pageParameters,
});

/** @throws ValidationError with the errors of every parameter */
export function parseTransactionQuery(query: Query): TransactionQuery {
  const input = parseFilter(transactionQuery, query);
  if (input.q !== undefined) requireDates(input, 'q');
  if (input.import_id !== undefined) requireDates(input, 'import_id');
  return {
    ...toTransactionSelection(input),
    ...toPageRequest(input),
  };
}

export function toTransactionSelection(
  input: v.InferOutput<v.ObjectSchema<typeof transactionSelection, undefined>>,
): TransactionSelection {
  return {
    ...toTransactionFilter(input),
    externalId: input.external_id,
    importId: input.import_id,
    search: input.q,
  };
}

export function toTransactionFilter(
  input: v.InferOutput<v.ObjectSchema<typeof transactionFilter, undefined>>,
): TransactionFilter {
  return {
    type: input.type,
    categoryId: input.category_id,
    startDate: input.start_date,
    endDate: input.end_date,
  };
}

export function toCategoriesFilter(
  input: v.InferOutput<v.ObjectSchema<typeof categoriesFilter, undefined>>,
): CategoriesFilter {
  const { category_id: categoryIds, ...others } = input;
  return { ...toTransactionFilter(others), categoryIds };
}

function toCategoryIds(input: string): readonly (number | null)[] {
  return [...new Set(input.split(',').map((id) => (id === 'none' ? null : Number(id))))];
}

/**
 * Requires both dates, because the cost of the request grows with the time between them.
 * @throws ValidationError
 */
export function requireDates(
  { start_date, end_date }: { start_date?: string; end_date?: string },
  parameter: string,
): void {
  const missingDates = Object.entries({ start_date, end_date }).filter(([, date]) => !date);
  if (missingDates.length === 0) return;
  const details = Object.fromEntries(
    missingDates.map(([name]) => [name, [`Is required with ${parameter}.`]]),
  );
  throw new ValidationError('Filter validation failed', { details });
}
