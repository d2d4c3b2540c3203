// GET /health, without authentication: shows that the function runs and, with `?deep`, that the table responds.
import { createPublicEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseFilter } from '../../lib/ledger/http/fields.ts';
import { healthQuery } from '../../lib/ledger/http/health-query.ts';
import { replyWithData } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createPublicEndpoint('checkHealth').handler(async ({ query }, { awsRequestId }) => {
    const { deep } = parseFilter(healthQuery, query);
    if (deep === undefined) return replyWithData({ status: 'ok' });
    await service.checkTable(service.startRequest(awsRequestId));
    return replyWithData({ status: 'ok', table: 'ok' });
  });
}

export const handler = createHandler(createServiceFromEnvironment());
