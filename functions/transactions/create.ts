// POST /transactions
import { parseNewTransaction } from '../../lib/domain/transaction.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { created } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ transactions }: Ledger) {
  return endpoint('Failed to create transaction')
    .use(jsonBody())
    .handler(async ({ json }) => {
      const transaction = await transactions.create(parseNewTransaction(json));
      return created(toTransactionJson(transaction), 'Transaction created successfully');
    });
}

export const handler = createHandler(ledgerFromEnvironment());
