// POST /categories
import { parseNewCategory } from '../../lib/domain/category.ts';
import { toCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { created } from '../../lib/http/replies.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ categories }: Ledger) {
  return endpoint('Failed to create category')
    .use(jsonBody())
    .handler(async ({ json }) => {
      const category = await categories.create(parseNewCategory(json));
      return created(toCategoryJson(category), 'Category created successfully');
    });
}

export const handler = createHandler(ledgerFromEnvironment());
