// POST /transactions/bulk: creates transactions; each is created or refused independently.
import { handleBulk } from '../../lib/ledger/http/bulk.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import {
  parseBulk,
  parseNewTransaction,
  toBulkReply,
} from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'createTransactions')
    .use(parseJsonBody())
    .handler(
      handleBulk({
        parseItems: parseBulk,
        parseItem: (body) => ({ fields: parseNewTransaction(body) }),
        apply: ({ ledger }, items) => ledger.transactions.createMany(items),
        toReply: toBulkReply(201),
        countNames: { 201: 'created', 409: 'duplicates' },
        itemOperation: 'createTransaction',
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
