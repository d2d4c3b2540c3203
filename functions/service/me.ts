// GET /me: shows the ledger and the scope of the key or token.
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { omitUndefined } from '../../lib/ledger/http/fields.ts';
import { replyWithData } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'identifyCaller').handler(async ({ caller }) => {
    const { ledger, scope, kind, keyId, name } = caller;
    return replyWithData({ ledger, scope, kind, ...omitUndefined({ key_id: keyId, name }) });
  });
}

export const handler = createHandler(createServiceFromEnvironment());
