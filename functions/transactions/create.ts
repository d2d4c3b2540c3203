// POST /transactions: creates a transaction.

import type { NamedTransaction } from '../../lib/ledger/domain/transaction.ts';
import { ledgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { idempotent } from '../../lib/ledger/http/idempotency.ts';
import { jsonBody } from '../../lib/ledger/http/json-body.ts';
import { created } from '../../lib/ledger/http/replies.ts';
import { parseNewTransaction, toTransactionJson } from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'createTransaction')
    .use(jsonBody())
    .handler(
      idempotent(async ({ ledger, json, requestContext }, remember) => {
        const { path } = requestContext.http;
        const reply = (transaction: NamedTransaction) =>
          created(toTransactionJson(transaction), 'Transaction created successfully', path);
        const input = parseNewTransaction(json);
        return reply(
          await ledger.transactions.create(input, (created) => remember(reply(created))),
        );
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
