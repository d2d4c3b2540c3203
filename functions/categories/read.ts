// GET /categories/{id}: shows a category with the number of its transactions.
import { toCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { replyIfConditionsHold } from '../../lib/ledger/http/preconditions.ts';
import { replyWithRecord } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'readCategory').handler(
    async ({ ledger, pathId, headers }) => {
      const category = await ledger.categories.find(pathId);
      const reply = replyWithRecord(toCategoryJson(category, { includesCount: true }));
      return replyIfConditionsHold(reply, headers, 'category', category);
    },
  );
}

export const handler = createHandler(createServiceFromEnvironment());
