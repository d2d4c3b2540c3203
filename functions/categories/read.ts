// GET /categories/{id}
import { toCountedCategoryJson } from '../../lib/http/category-json.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { found } from '../../lib/http/replies.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ categories }: Ledger) {
  return endpoint('Failed to retrieve category').handler(async ({ pathId }) => {
    return found(toCountedCategoryJson(await categories.find(pathId)));
  });
}

export const handler = createHandler(ledgerFromEnvironment());
