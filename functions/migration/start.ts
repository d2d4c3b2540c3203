// Begins a run, with a plan that is fixed from then on.

import type { Remembering } from '../../lib/migration/runs/remembering.ts';
import { ownRemembering } from '../../lib/migration/runs/step-handler.ts';
import { startRun } from '../../lib/migration/steps/start.ts';

export function createHandler(remembering: () => Promise<Remembering>) {
  return async (payload: unknown) => await startRun(await remembering(), payload);
}

export const handler = createHandler(ownRemembering);
