// GET /transactions/export and GET /transactions/export.json: one part of the transactions that match the filters, and the
// address of the next part.
import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseExportRequest, toExportReply } from '../../lib/ledger/http/transaction-export.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint<'exportTransactions' | 'exportTransactionsAsJson'>(
    service,
    'exportTransactions',
  ).handler(async ({ ledger, query, headers: { accept }, requestContext }) => {
    const input = parseExportRequest({ query, accept, path: requestContext.http.path });
    const { digest, after: _, ...selection } = input.query;
    const hasMonthDigest = input.isJson ? await ledger.months.hasMonthDigest(selection) : undefined;
    const part = await ledger.transactions.readExportPart(input.query);
    return toExportReply(part, { query, isJson: input.isJson, digest, hasMonthDigest });
  });
}

export const handler = createHandler(createServiceFromEnvironment());
