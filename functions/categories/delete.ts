// DELETE /categories/{id}
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { isExpectedBy } from '../../lib/http/preconditions.ts';
import { deleted } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to delete category').handler(
    async ({ ledger, pathId, headers }) => {
      await ledger.categories.deactivate(pathId, isExpectedBy(headers['if-match'], 'c', pathId));
      return deleted('Category deleted successfully');
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
