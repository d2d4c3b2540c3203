// GET /transactions/{id}
import { endpoint } from '../../lib/http/endpoint.ts';
import { found } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { transactions } = ledgerFromEnvironment();

export const handler = endpoint('Failed to retrieve transaction').handler(async ({ pathId }) => {
  const transaction = await transactions.read(pathId);
  return found(toTransactionJson(transaction));
});
