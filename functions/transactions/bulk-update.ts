// PUT /transactions/bulk: changes transactions; each is changed or refused independently.
import { handleBulk } from '../../lib/ledger/http/bulk.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import {
  parseBulkChange,
  parseBulkWithUniqueIds,
  toBulkReply,
} from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'updateTransactions')
    .use(parseJsonBody())
    .handler(
      handleBulk({
        parseItems: parseBulkWithUniqueIds,
        parseItem: parseBulkChange,
        apply: ({ ledger }, items) => ledger.transactions.updateMany(items),
        toReply: toBulkReply(200),
        countNames: { 200: 'updated' },
        itemOperation: 'updateTransaction',
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
