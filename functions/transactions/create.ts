// POST /transactions

import type { NamedTransaction } from '../../lib/domain/transaction.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { idempotent } from '../../lib/http/idempotency.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { tagged } from '../../lib/http/preconditions.ts';
import { created } from '../../lib/http/replies.ts';
import {
  parseNewTransaction,
  toTransactionJson,
  transactionTag,
} from '../../lib/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to create transaction')
    .use(jsonBody())
    .handler(
      idempotent(async ({ ledger, json }, record) => {
        const reply = (transaction: NamedTransaction) =>
          tagged(
            created(toTransactionJson(transaction), 'Transaction created successfully'),
            transactionTag(transaction),
          );
        const input = parseNewTransaction(json);
        return reply(await ledger.transactions.create(input, (made) => record(reply(made))));
      }),
    );
}

export const handler = createHandler(serviceFromEnvironment());
