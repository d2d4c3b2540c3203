// Finds the record that the path names before anything else is judged: an unknown id is a 404 even where the body is bad.
import type { MiddlewareObj } from '@middy/core';
import type { ApiEvent } from './api-event.ts';
import type { Reply } from './replies.ts';

/** @param find throws NotFoundError where nothing is known by the path's id */
export function lookUp<Existing>(
  find: (pathId: string) => Promise<Existing>,
): MiddlewareObj<ApiEvent & { existing: Existing }, Reply> {
  return {
    before: async ({ event }) => {
      event.existing = await find(event.pathId);
    },
  };
}
