// A search as clients ask for it and see its result.
import * as v from 'valibot';
import { hasAtMostTwoDecimals, LARGEST_AMOUNT } from '../domain/money.ts';
import { ROW_ORDERS } from '../domain/pagination.ts';
import { MAX_SEARCHED_CATEGORIES, type SearchQuery } from '../domain/search.ts';
import { filledText } from '../domain/text.ts';
import { ValidationError } from '../errors.ts';
import type { SearchResult } from '../service/searches.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { foundPage, type Reply } from './replies.ts';
import { toTotalsJson } from './summary-json.ts';
import {
  pageParameters,
  toPageRequest,
  toTransactionJson,
  transactionFilter,
} from './transaction-json.ts';

const CATEGORY_IDS_RULE = `Must be up to ${MAX_SEARCHED_CATEGORIES} ids of categories, or "none", separated by commas.`;

const amountBound = v.pipe(
  v.string(),
  v.check(isAmount, 'Must be an amount with at most 2 decimals.'),
  v.transform(toNumber),
  v.metadata({
    type: 'number',
    format: 'double',
    minimum: -LARGEST_AMOUNT,
    maximum: LARGEST_AMOUNT,
  }),
);

export const searchQuery = v.object({
  q: v.exactOptional(
    v.pipe(
      filledText(100),
      v.description(
        'Words in any order, each in the description or the notes, without regard to case and accents.',
      ),
    ),
  ),
  min_amount: v.exactOptional(amountBound),
  max_amount: v.exactOptional(amountBound),
  category_id: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^(?:none|[0-9]+)(?:,(?:none|[0-9]+))*$/, CATEGORY_IDS_RULE),
      v.check(isShort, CATEGORY_IDS_RULE),
      v.description(
        `Ids of categories, separated by commas; \`none\` for what has no category. At most ${MAX_SEARCHED_CATEGORIES}.`,
      ),
    ),
  ),
  type: transactionFilter.type,
  start_date: transactionFilter.start_date,
  end_date: transactionFilter.end_date,
  sort: v.exactOptional(
    v.pipe(
      v.picklist(ROW_ORDERS, 'Must be "date", "-date", "amount" or "-amount".'),
      v.description(
        '`-date`: newest first, as without it. `amount`: smallest first. Equal amounts are shown newest first.',
      ),
    ),
  ),
  ...pageParameters,
});

/** @throws ValidationError with the errors of every parameter, also where nothing is searched for */
export function parseSearchQuery(query: Query): SearchQuery {
  const sent = parseFilter(searchQuery, query);
  const { q: text, min_amount: minAmount, max_amount: maxAmount, category_id } = sent;
  if ([text, minAmount, maxAmount, category_id].every((criterion) => criterion === undefined)) {
    const details = { q: ['Is required without min_amount, max_amount and category_id.'] };
    throw new ValidationError('Filter validation failed', { details });
  }
  return {
    text,
    minAmount,
    maxAmount,
    categoryIds: category_id?.split(',').map((id) => (id === 'none' ? null : Number(id))),
    type: sent.type,
    startDate: sent.start_date,
    endDate: sent.end_date,
    order: sent.sort ?? '-date',
    ...toPageRequest(sent),
  };
}

export function searchReply({ items, pagination, totals }: SearchResult): Reply {
  const reply = foundPage(items.map(toTransactionJson), pagination);
  return { ...reply, body: { ...reply.body, summary: toTotalsJson(totals) } };
}

function isAmount(value: string): boolean {
  const number = toNumber(value);
  return hasAtMostTwoDecimals(number) && Math.abs(number) <= LARGEST_AMOUNT;
}

/** NaN for anything but a JSON number: Java and others write 12345678.91 as 1.234567891E7. */
function toNumber(value: string): number {
  return /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(value) ? Number(value) : Number.NaN;
}

function isShort(ids: string): boolean {
  return new Set(ids.split(',')).size <= MAX_SEARCHED_CATEGORIES;
}
