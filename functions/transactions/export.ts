// GET /transactions/export: one part of all that the filters choose, which names the next.
import { queryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { exportReply, parseExportQuery } from '../../lib/ledger/http/transaction-export.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return queryEndpoint(service, 'Failed to export transactions').handler(
    async ({ ledger, query }) => {
      const part = await ledger.transactions.readExportPart(parseExportQuery(query));
      return exportReply(part, query);
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
