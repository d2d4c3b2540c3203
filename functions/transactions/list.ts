// GET /transactions: shows a page of transactions.

import { queryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { foundPage } from '../../lib/ledger/http/replies.ts';
import { toTransactionJson } from '../../lib/ledger/http/transaction-json.ts';
import { parseTransactionQuery } from '../../lib/ledger/http/transaction-query.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'listTransactions').handler(async ({ ledger, query }) => {
    const { items, pagination } = await ledger.transactions.list(parseTransactionQuery(query));
    return foundPage(items.map(toTransactionJson), pagination);
  });
}

export const handler = createHandler(createServiceFromEnvironment());
