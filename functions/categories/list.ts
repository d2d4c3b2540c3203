// GET /categories
import { parseCategoryQuery, toCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { queryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { foundAll } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'Failed to retrieve categories').handler(
    async ({ ledger, query }) => {
      const { activeOnly, includeCounts: isCounted } = parseCategoryQuery(query);
      const items = await ledger.categories.list({ activeOnly });
      return foundAll(items.map((item) => toCategoryJson(item, { isCounted })));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
