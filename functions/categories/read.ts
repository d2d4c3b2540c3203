// GET /categories/{id}
import { categoryTag, toCountedCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { tagged, unlessKnown } from '../../lib/ledger/http/preconditions.ts';
import { found } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/ledger/runtime.ts';

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
