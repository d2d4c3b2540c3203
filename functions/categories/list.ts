// GET /categories
import { parseCategoryQuery } from '../../lib/domain/category-query.ts';
import { toCategoryJson, toCountedCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { foundAll } from '../../lib/http/replies.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ categories }: Ledger) {
  return endpoint('Failed to retrieve categories').handler(async ({ query }) => {
    const { activeOnly, includeCounts } = parseCategoryQuery(query);
    const items = await categories.list({ activeOnly });
    return foundAll(items.map(includeCounts ? toCountedCategoryJson : toCategoryJson));
  });
}

export const handler = createHandler(ledgerFromEnvironment());
