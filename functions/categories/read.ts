// GET /categories/{id}
import { toCountedCategoryJson } from '../../lib/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { found } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to retrieve category').handler(
    async ({ ledger, pathId }) => {
      return found(toCountedCategoryJson(await ledger.categories.find(pathId)));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
