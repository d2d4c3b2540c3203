// GET /transactions
import { parseTransactionQuery } from '../../lib/domain/transaction-query.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { foundPage } from '../../lib/http/replies.ts';
import { toTransactionJson } from '../../lib/http/transaction-json.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ledgerFromEnvironment } from '../../lib/runtime.ts';

export function createHandler({ transactions }: Ledger) {
  return endpoint('Failed to retrieve transactions').handler(async ({ query }) => {
    const { items, pagination } = await transactions.list(parseTransactionQuery(query));
    return foundPage(items.map(toTransactionJson), pagination);
  });
}

export const handler = createHandler(ledgerFromEnvironment());
