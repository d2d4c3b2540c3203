// GET /transactions/export: one part of a CSV file; the Link header names the next.
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { foundText } from '../../lib/http/replies.ts';
import { parseExportQuery, toCsvPart } from '../../lib/http/transaction-csv.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to export transactions').handler(
    async ({ ledger, query }) => {
      const part = await ledger.transactions.readExportPart(parseExportQuery(query));
      return foundText(toCsvPart(part, query));
    },
  );
}

export const handler = createHandler(serviceFromEnvironment());
