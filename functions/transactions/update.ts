// PUT /transactions/{id}
import { parseTransactionChanges } from '../../lib/domain/transaction.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { lookUp } from '../../lib/http/look-up.ts';
import { updated } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ transactions }: Ledger) {
  return endpoint('Failed to update transaction')
    .use(lookUp(transactions.find))
    .use(jsonBody())
    .handler(async ({ existing, json }) => {
      const transaction = await transactions.update(existing, parseTransactionChanges(json));
      return updated(toTransactionJson(transaction), 'Transaction updated successfully');
    });
}

export const handler = createHandler(ledgerFromEnvironment());
