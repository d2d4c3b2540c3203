// DELETE /transactions/{id}: removes a transaction.
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { readVersionCheck } from '../../lib/ledger/http/preconditions.ts';
import { replyDeleted } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'deleteTransaction').handler(
    async ({ ledger, pathId, headers }) => {
      await ledger.transactions.remove(pathId, readVersionCheck(headers, 'transaction', pathId));
      return replyDeleted('Transaction deleted successfully');
    },
  );
}

export const handler = createHandler(createServiceFromEnvironment());
