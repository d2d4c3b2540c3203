// GET /categories/{id}
import { categoryTag, toCountedCategoryJson } from '../../lib/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { tagged, unlessKnown } from '../../lib/http/preconditions.ts';
import { found } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to retrieve category').handler(
    async ({ ledger, pathId, headers }) => {
      const category = await ledger.categories.find(pathId);
      const reply = tagged(found(toCountedCategoryJson(category)), categoryTag(category));
      return unlessKnown(reply, headers['if-none-match']);
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
