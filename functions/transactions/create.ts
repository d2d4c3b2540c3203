// POST /transactions: creates a transaction.

import type { TransactionWithCategoryName } from '../../lib/ledger/domain/transaction.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { makeIdempotent } from '../../lib/ledger/http/idempotency.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import { replyCreated } from '../../lib/ledger/http/replies.ts';
import { parseNewTransaction, toTransactionJson } from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'createTransaction')
    .use(parseJsonBody())
    .handler(
      makeIdempotent(async ({ ledger, json, requestContext }, remember) => {
        const { path } = requestContext.http;
        const reply = (transaction: TransactionWithCategoryName) =>
          replyCreated(toTransactionJson(transaction), 'Transaction created successfully', path);
        const input = parseNewTransaction(json);
        return reply(
          await ledger.transactions.create(input, (created) => remember(reply(created))),
        );
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
