// DELETE /categories/{id}
import { endpoint } from '../../lib/http/endpoint.ts';
import { deleted } from '../../lib/http/replies.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ categories }: Ledger) {
  return endpoint('Failed to delete category').handler(async ({ pathId }) => {
    await categories.deactivate(pathId);
    return deleted('Category deleted successfully');
  });
}

export const handler = createHandler(ledgerFromEnvironment());
