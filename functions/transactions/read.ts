// GET /transactions/{id}
import { ledgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { tagged, unlessKnown } from '../../lib/ledger/http/preconditions.ts';
import { found } from '../../lib/ledger/http/replies.ts';
import { toTransactionJson, transactionTag } from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to retrieve transaction').handler(
    async ({ ledger, pathId, headers }) => {
      const transaction = await ledger.transactions.read(pathId);
      const reply = tagged(found(toTransactionJson(transaction)), transactionTag(transaction));
      return unlessKnown(reply, headers['if-none-match']);
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
