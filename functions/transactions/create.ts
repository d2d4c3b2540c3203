// POST /transactions
import { parseNewTransaction } from '../../lib/domain/transaction.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { created } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to create transaction')
    .use(jsonBody())
    .handler(async ({ ledger, json }) => {
      const transaction = await ledger.transactions.create(parseNewTransaction(json));
      return created(toTransactionJson(transaction), 'Transaction created successfully');
    });
}

export const handler = createHandler(serviceFromEnvironment());
