// PUT /imports: records the rows that an import has added.
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { parseImportPart, toRecordedJson } from '../../lib/ledger/http/import-json.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import { replyUpdated } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'recordImport')
    .use(parseJsonBody())
    .handler(async ({ ledger, json }) => {
      const part = parseImportPart(json);
      await ledger.importedRows.record(part);
      return replyUpdated(toRecordedJson(part), 'Import recorded successfully');
    });
}

export const handler = createHandler(createServiceFromEnvironment());
