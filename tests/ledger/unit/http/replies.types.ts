// Handlers that the compiler must refuse: it reports each `@ts-expect-error` directive that hides no error.
import { publicEndpoint, queryEndpoint } from '../../../../lib/ledger/http/endpoint.ts';
import { deleted, found, foundAll } from '../../../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../../../lib/ledger/ledger.ts';

/** A handler must answer as lib/ledger/http/endpoints declares its operation, and gets only the fields that its middleware adds. */
export function refusedByTheCompiler(service: LedgerService) {
  return [
    // @ts-expect-error: no operation has this id
    publicEndpoint('checkWealth'),
    // @ts-expect-error: a status is a text
    publicEndpoint('checkHealth').handler(async () => found({ status: true })),
    // @ts-expect-error: the response has data
    queryEndpoint(service, 'listCategories').handler(async () => deleted('Deleted')),
    // @ts-expect-error: a category has more fields
    queryEndpoint(service, 'listCategories').handler(async () => foundAll([{ id: 1 }])),
    // @ts-expect-error: no caller is known without a key
    publicEndpoint('checkHealth').handler(async ({ caller }) => found({ status: caller.kind })),
  ];
}
