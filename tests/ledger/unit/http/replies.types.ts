// Handlers that the compiler must refuse: it reports each `@ts-expect-error` directive that hides no error.
import { createPublicEndpoint, createQueryEndpoint } from '../../../../lib/ledger/http/endpoint.ts';
import { replyDeleted, replyWithData, replyWithList } from '../../../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../../../lib/ledger/ledger.ts';

/** A handler must reply as lib/ledger/http/endpoints declares its operation, and gets only the fields that its middleware adds. */
export function refusedByTheCompiler(service: LedgerService) {
  return [
    // @ts-expect-error: no operation has this id
    createPublicEndpoint('checkWealth'),
    // @ts-expect-error: a status is a string
    createPublicEndpoint('checkHealth').handler(async () => replyWithData({ status: true })),
    // @ts-expect-error: the response has data
    createQueryEndpoint(service, 'listCategories').handler(async () => replyDeleted('Deleted')),
    // @ts-expect-error: a category has more fields
    createQueryEndpoint(service, 'listCategories').handler(async () => replyWithList([{ id: 1 }])),
    // @ts-expect-error: no caller is known without a key
    createPublicEndpoint('checkHealth').handler(async ({ caller }) =>
      replyWithData({ status: caller.kind }),
    ),
  ];
}
