// POST /transactions/bulk: each transaction is created or refused by itself.
import { bulk } from '../../lib/ledger/http/bulk.ts';
import { ledgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { jsonBody } from '../../lib/ledger/http/json-body.ts';
import {
  parseBulk,
  parseNewTransaction,
  toBulkReply,
} from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'createTransactions')
    .use(jsonBody())
    .handler(
      bulk({
        items: parseBulk,
        parse: (body) => ({ fields: parseNewTransaction(body) }),
        apply: ({ ledger }, items) => ledger.transactions.createMany(items),
        toReply: toBulkReply(201),
        counted: { 201: 'created', 409: 'duplicates' },
        each: 'createTransaction',
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
