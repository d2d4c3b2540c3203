// DELETE /transactions/{id}
import { endpoint } from '../../lib/http/endpoint.ts';
import { deleted } from '../../lib/http/replies.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { transactions } = ledgerFromEnvironment();

export const handler = endpoint('Failed to delete transaction').handler(async ({ pathId }) => {
  await transactions.remove(pathId);
  return deleted('Transaction deleted successfully');
});
