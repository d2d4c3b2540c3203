// DELETE /categories/{id}: makes a category inactive.
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { readVersionCheck } from '../../lib/ledger/http/preconditions.ts';
import { replyDeleted } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'deleteCategory').handler(
    async ({ ledger, pathId, headers }) => {
      await ledger.categories.deactivate(pathId, readVersionCheck(headers, 'category', pathId));
      return replyDeleted('Category deleted successfully');
    },
  );
}

export const handler = createHandler(createServiceFromEnvironment());
