// GET /imports: lists the rows that imports have added.
import { createQueryEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseImportQuery, toImportsReply } from '../../lib/ledger/http/import-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createQueryEndpoint(service, 'listImports').handler(async ({ ledger, query }) => {
    const { after } = parseImportQuery(query);
    return toImportsReply(await ledger.importedRows.readPage(after));
  });
}

export const handler = createHandler(createServiceFromEnvironment());
