// Runs the list function in this process, so that a complete request is measured, but no gateway.
import type { TransactionFilter } from '../../lib/ledger/domain/transaction.ts';
import type { LedgerAddress } from './bench-ledger.ts';
import type { ListResult } from './list-result.ts';
import { PER_PAGE } from './pages.ts';

type Handler = (event: object, context: object) => Promise<{ statusCode?: number; body?: string }>;

interface Body {
  readonly data: readonly { readonly id: number }[];
  readonly pagination: { readonly total: number };
}

/** Must be called only once in a process, because a function reads its environment when it is loaded. */
export async function loadListHandler({ endpoint, tableName, ledgerId }: LedgerAddress) {
  const environment = {
    DYNAMODB_ENDPOINT: endpoint,
    TABLE_NAME: tableName,
    LEDGER_ID: ledgerId,
    AUTH: 'open',
  };
  Object.assign(process.env, environment);
  const module = await import('../../functions/transactions/list.ts');
  const handler = module.handler as unknown as Handler;

  return async (filter: TransactionFilter, page: number): Promise<ListResult> => {
    const event = {
      headers: {},
      queryStringParameters: toQuery(filter, page),
      requestContext: { http: { method: 'GET' } },
    };
    const { statusCode, body = '' } = await handler(event, { awsRequestId: 'bench' });
    if (statusCode !== 200)
      throw new Error(`The list function responded with ${statusCode}: ${body}`);
    const { data, pagination } = JSON.parse(body) as Body;
    return { total: pagination.total, ids: data.map(({ id }) => id) };
  };
}

function toQuery(filter: TransactionFilter, page: number): Record<string, string> {
  const parameters = {
    type: filter.type,
    category_id: filter.categoryId,
    start_date: filter.startDate,
    end_date: filter.endDate,
    page,
    per_page: PER_PAGE,
  };
  const sentParameters = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(sentParameters.map(([name, value]) => [name, String(value)]));
}
