// GET /health, without authentication: shows that the function runs and, with `?deep`, that the table answers.
import { publicEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseFilter } from '../../lib/ledger/http/fields.ts';
import { healthQuery } from '../../lib/ledger/http/health-query.ts';
import { found } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return publicEndpoint('checkHealth').handler(async ({ query }, { awsRequestId }) => {
    const { deep } = parseFilter(healthQuery, query);
    if (deep === undefined) return found({ status: 'ok' });
    await service.checkTable(service.startRequest(awsRequestId));
    return found({ status: 'ok', table: 'ok' });
  });
}

export const handler = createHandler(createServiceFromEnvironment());
