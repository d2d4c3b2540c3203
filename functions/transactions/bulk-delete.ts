// POST /transactions/bulk/delete: removes transactions, each of which can be refused independently.
import { handleBulk } from '../../lib/ledger/http/bulk.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import { parseBulkOfExisting, parseBulkRemoval } from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'deleteTransactions')
    .use(parseJsonBody())
    .handler(
      handleBulk({
        parseItems: parseBulkOfExisting,
        parseItem: parseBulkRemoval,
        apply: ({ ledger }, items) => ledger.transactions.removeMany(items),
        toReply: (id: number) => ({ status: 200, body: { id } }),
        countNames: { 200: 'deleted' },
        itemOperation: 'deleteTransaction',
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
