// POST /categories
import { parseNewCategory } from '../../lib/domain/category.ts';
import { toCategoryJson } from '../../lib/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { created } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to create category')
    .use(jsonBody())
    .handler(async ({ ledger, json }) => {
      const category = await ledger.categories.create(parseNewCategory(json));
      return created(toCategoryJson(category), 'Category created successfully');
    });
}

export const handler = createHandler(serviceFromEnvironment());
