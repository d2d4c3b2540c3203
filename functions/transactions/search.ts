// GET /transactions/search: finds transactions by words, amounts and categories.
import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseSearchQuery, toSearchReply } from '../../lib/ledger/http/search-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint(service, 'searchTransactions').handler(async ({ ledger, query }) =>
    toSearchReply(await ledger.searches.find(parseSearchQuery(query))),
  );
}

export const handler = createHandler(createServiceFromEnvironment());
