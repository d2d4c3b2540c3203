// GET /summary
import { queryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { found } from '../../lib/ledger/http/replies.ts';
import { parseSummaryQuery, toSummaryJson } from '../../lib/ledger/http/summary-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'Failed to summarize transactions').handler(
    async ({ ledger, query }) =>
      found(toSummaryJson(await ledger.summaries.read(parseSummaryQuery(query)))),
  );
}

export const handler = createHandler(serviceFromEnvironment());
