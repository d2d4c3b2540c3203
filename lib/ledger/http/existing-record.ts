// Reads the record that the path names before the body is parsed: an unknown id is a 404 even when the body is invalid.
import type { MiddlewareObj } from '@middy/core';
import type { LedgerEvent } from './endpoint.ts';
import type { Reply } from './replies.ts';

/** @param find throws NotFoundError if there is no record with the path's id */
export function loadExisting<Existing>(
  find: (event: LedgerEvent) => Promise<Existing>,
): MiddlewareObj<LedgerEvent & { existing: Existing }, Reply> {
  return {
    before: async ({ event }) => {
      event.existing = await find(event);
    },
  };
}
