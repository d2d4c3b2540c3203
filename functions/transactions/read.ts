// GET /transactions/{id}
import { endpoint } from '../../lib/http/endpoint.ts';
import { found } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ transactions }: Ledger) {
  return endpoint('Failed to retrieve transaction').handler(async ({ pathId }) => {
    const transaction = await transactions.read(pathId);
    return found(toTransactionJson(transaction));
  });
}

export const handler = createHandler(ledgerFromEnvironment());
