// GET /summary and GET /summary/series: add up transactions by one grouping or by two.
import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseSummaryQuery, toSummaryReply } from '../../lib/ledger/http/summary-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint<'readSummary' | 'readSummarySeries'>(service, 'readSummary').handler(
    async ({ ledger, query, requestContext }) => {
      const input = parseSummaryQuery(query, requestContext.http.path);
      return toSummaryReply(await ledger.summaries.read(input), input);
    },
  );
}

export const handler = createHandler(createServiceFromEnvironment());
