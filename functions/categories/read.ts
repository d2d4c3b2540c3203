// GET /categories/{id}
import { toCountedCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { found } from '../../lib/http/replies.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { categories } = ledgerFromEnvironment();

export const handler = endpoint('Failed to retrieve category').handler(async ({ pathId }) => {
  return found(toCountedCategoryJson(await categories.find(pathId)));
});
