// GET /transactions

import { queryEndpoint } from '../../lib/http/endpoint.ts';
import { foundPage } from '../../lib/http/replies.ts';
import { parseTransactionQuery, toTransactionRowJson } from '../../lib/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'Failed to retrieve transactions').handler(
    async ({ ledger, query }) => {
      const { items, pagination } = await ledger.transactions.list(parseTransactionQuery(query));
      return foundPage(items.map(toTransactionRowJson), pagination);
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
