// DELETE /transactions/{id}
import { endpoint } from '../../lib/http/endpoint.ts';
import { deleted } from '../../lib/http/replies.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ transactions }: Ledger) {
  return endpoint('Failed to delete transaction').handler(async ({ pathId }) => {
    await transactions.remove(pathId);
    return deleted('Transaction deleted successfully');
  });
}

export const handler = createHandler(ledgerFromEnvironment());
