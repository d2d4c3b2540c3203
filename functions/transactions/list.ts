// GET /transactions
import { parseTransactionQuery } from '../../lib/domain/transaction-query.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { foundPage } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

const { transactions } = ledgerFromEnvironment();

export const handler = endpoint('Failed to retrieve transactions').handler(async ({ query }) => {
  const { items, pagination } = await transactions.list(parseTransactionQuery(query));
  return foundPage(items.map(toTransactionJson), pagination);
});
