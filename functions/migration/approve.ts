// What a person says who has looked at the evidence.

import type { Remembering } from '../../lib/migration/runs/remembering.ts';
import { ownRemembering } from '../../lib/migration/runs/step-handler.ts';
import { approveGate } from '../../lib/migration/steps/approve.ts';

export function createHandler(remembering: () => Promise<Remembering>) {
  return async (payload: unknown) => await approveGate(await remembering(), payload);
}

export const handler = createHandler(ownRemembering);
