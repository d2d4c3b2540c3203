// GET /categories: lists categories by name.
import { parseCategoryQuery, toCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { replyIfListModified } from '../../lib/ledger/http/preconditions.ts';
import { replyWithList } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint(service, 'listCategories').handler(
    async ({ ledger, query, headers }) => {
      const { activeOnly, includeCounts } = parseCategoryQuery(query);
      const items = await ledger.categories.list({ activeOnly });
      const data = items.map((item) => toCategoryJson(item, { includesCount: includeCounts }));
      return replyIfListModified(replyWithList(data), headers['if-none-match']);
    },
  );
}

export const handler = createHandler(createServiceFromEnvironment());
