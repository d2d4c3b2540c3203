// GET /categories
import {
  parseCategoryQuery,
  toCategoryJson,
  toCountedCategoryJson,
} from '../../lib/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { foundAll } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to retrieve categories').handler(
    async ({ ledger, query }) => {
      const { activeOnly, includeCounts } = parseCategoryQuery(query);
      const items = await ledger.categories.list({ activeOnly });
      return foundAll(items.map(includeCounts ? toCountedCategoryJson : toCategoryJson));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
