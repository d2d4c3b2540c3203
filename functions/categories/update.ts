// PUT /categories/{id}
import { parseCategoryChanges } from '../../lib/domain/category.ts';
import { toCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { lookUp } from '../../lib/http/look-up.ts';
import { updated } from '../../lib/http/replies.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ categories }: Ledger) {
  return endpoint('Failed to update category')
    .use(lookUp(categories.find))
    .use(jsonBody())
    .handler(async ({ existing, json }) => {
      const category = await categories.update(existing, parseCategoryChanges(json));
      return updated(toCategoryJson(category), 'Category updated successfully');
    });
}

export const handler = createHandler(ledgerFromEnvironment());
