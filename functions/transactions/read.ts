// GET /transactions/{id}
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { found } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to retrieve transaction').handler(
    async ({ ledger, pathId }) => {
      const transaction = await ledger.transactions.read(pathId);
      return found(toTransactionJson(transaction));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
