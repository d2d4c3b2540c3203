// GET /categories
import { parseCategoryQuery } from '../../lib/domain/category-query.ts';
import { toCategoryJson, toCountedCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { foundAll } from '../../lib/http/replies.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { categories } = ledgerFromEnvironment();

export const handler = endpoint('Failed to retrieve categories').handler(async ({ query }) => {
  const { activeOnly, includeCounts } = parseCategoryQuery(query);
  const items = await categories.list({ activeOnly });
  return foundAll(items.map(includeCounts ? toCountedCategoryJson : toCategoryJson));
});
