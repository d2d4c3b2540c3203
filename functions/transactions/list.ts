// GET /transactions: shows a page of transactions.

import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { replyWithPage } from '../../lib/ledger/http/replies.ts';
import { toTransactionJson } from '../../lib/ledger/http/transaction-json.ts';
import { parseTransactionQuery } from '../../lib/ledger/http/transaction-query.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint(service, 'listTransactions').handler(async ({ ledger, query }) => {
    const { items, pagination } = await ledger.transactions.list(parseTransactionQuery(query));
    return replyWithPage(items.map(toTransactionJson), pagination);
  });
}

export const handler = createHandler(createServiceFromEnvironment());
