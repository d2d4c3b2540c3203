// GET /months: lists months with their totals and digests.
import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseMonthsQuery, toMonthsReply } from '../../lib/ledger/http/months-json.ts';
import { replyIfListModified } from '../../lib/ledger/http/preconditions.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint(service, 'listMonths').handler(async ({ ledger, query, headers }) => {
    const months = await ledger.months.list(...parseMonthsQuery(query));
    return replyIfListModified(toMonthsReply(months), headers['if-none-match']);
  });
}

export const handler = createHandler(createServiceFromEnvironment());
