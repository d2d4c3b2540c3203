// POST /transactions/bulk/delete: deletes transactions; each is deleted or refused independently.
import { handleBulk } from '../../lib/ledger/http/bulk.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import {
  parseBulkRemoval,
  parseBulkWithUniqueIds,
} from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'deleteTransactions')
    .use(parseJsonBody())
    .handler(
      handleBulk({
        parseItems: parseBulkWithUniqueIds,
        parseItem: parseBulkRemoval,
        apply: ({ ledger }, items) => ledger.transactions.removeMany(items),
        toReply: (id: number) => ({ status: 200, body: { id } }),
        countNames: { 200: 'deleted' },
        itemOperation: 'deleteTransaction',
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
