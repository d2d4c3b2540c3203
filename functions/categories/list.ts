// GET /categories
import { parseCategoryQuery, toCategoryRowJson } from '../../lib/http/category-json.ts';
import { queryEndpoint } from '../../lib/http/endpoint.ts';
import { foundAll } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'Failed to retrieve categories').handler(
    async ({ ledger, query }) => {
      const { activeOnly, includeCounts: isCounted } = parseCategoryQuery(query);
      const items = await ledger.categories.list({ activeOnly });
      return foundAll(items.map((item) => toCategoryRowJson(item, { isCounted })));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
