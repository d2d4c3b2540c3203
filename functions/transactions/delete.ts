// DELETE /transactions/{id}
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { deleted } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to delete transaction').handler(
    async ({ ledger, pathId }) => {
      await ledger.transactions.remove(pathId);
      return deleted('Transaction deleted successfully');
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
