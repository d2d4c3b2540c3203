// The parameters of a search, and the JSON of its result.
import * as v from 'valibot';
import { hasAtMostTwoDecimals, MAX_AMOUNT } from '../domain/money.ts';
import { ROW_ORDERS } from '../domain/pagination.ts';
import type { SearchQuery } from '../domain/search.ts';
import { nonBlankText } from '../domain/text.ts';
import { ValidationError } from '../errors.ts';
import type { SearchResult } from '../service/searches.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { replyWithPage } from './replies.ts';
import { toTotalsJson } from './summary-json.ts';
import { toTransactionJson } from './transaction-json.ts';
import {
  categoriesFilter,
  pageParameters,
  toCategoriesFilter,
  toPageRequest,
} from './transaction-query.ts';

const amountBound = v.pipe(
  v.string(),
  v.check(isAmount, 'Must be an amount with at most 2 decimals.'),
  v.transform(toNumber),
  v.metadata({
    type: 'number',
    format: 'double',
    minimum: -MAX_AMOUNT,
    maximum: MAX_AMOUNT,
  }),
);

export const searchQuery = v.object({
  q: v.exactOptional(
    v.pipe(
      nonBlankText(100),
      v.description(
        'Words in any order. Each must be in the description or the notes; case and accents are ignored.',
      ),
    ),
  ),
  min_amount: v.exactOptional(amountBound),
  max_amount: v.exactOptional(amountBound),
  ...categoriesFilter,
  sort: v.exactOptional(
    v.pipe(
      v.picklist(ROW_ORDERS, 'Must be "date", "-date", "amount" or "-amount".'),
      v.description(
        '`-date`: newest first, which is the default. `amount`: smallest first. Equal amounts are shown newest first.',
      ),
    ),
  ),
  ...pageParameters,
});

/** @throws ValidationError with the errors of every parameter, also if there is no criterion */
export function parseSearchQuery(query: Query): SearchQuery {
  const input = parseFilter(searchQuery, query);
  const { q: text, min_amount: minAmount, max_amount: maxAmount } = input;
  if (
    [text, minAmount, maxAmount, input.category_id].every((criterion) => criterion === undefined)
  ) {
    const details = { q: ['Is required without min_amount, max_amount and category_id.'] };
    throw new ValidationError('Filter validation failed', { details });
  }
  return {
    text,
    minAmount,
    maxAmount,
    ...toCategoriesFilter(input),
    ...toPageRequest(input),
  };
}

export function toSearchReply({ items, pagination, totals }: SearchResult) {
  const reply = replyWithPage(items.map(toTransactionJson), pagination);
  return { ...reply, body: { ...reply.body, summary: toTotalsJson(totals) } };
}

function isAmount(value: string): boolean {
  const number = toNumber(value);
  return hasAtMostTwoDecimals(number) && Math.abs(number) <= MAX_AMOUNT;
}

/** Returns NaN unless the text is a number. Exponents are allowed, because Java writes 12345678.91 as 1.234567891E7. */
function toNumber(value: string): number {
  return /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(value) ? Number(value) : Number.NaN;
}
