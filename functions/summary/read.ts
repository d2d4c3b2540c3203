// GET /summary and GET /summary/series
import { queryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { found } from '../../lib/ledger/http/replies.ts';
import { parseSummaryQuery, toSummaryJson } from '../../lib/ledger/http/summary-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'Failed to summarize transactions').handler(
    async ({ ledger, query, requestContext }) => {
      const sent = parseSummaryQuery(query, requestContext.http.path);
      return found(toSummaryJson(await ledger.summaries.read(sent), sent));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
