// POST /categories
import { parseNewCategory } from '../../lib/domain/category.ts';
import { toCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { created } from '../../lib/http/replies.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { categories } = ledgerFromEnvironment();

export const handler = endpoint('Failed to create category')
  .use(jsonBody())
  .handler(async ({ json }) => {
    const category = await categories.create(parseNewCategory(json));
    return created(toCategoryJson(category), 'Category created successfully');
  });
