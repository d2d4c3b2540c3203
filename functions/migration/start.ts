// Begins a run, with a plan that is fixed from then on.

import { ownServices } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { startRun } from '../../lib/migration/steps/start.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await startRun(await services(), payload);
}

export const handler = createHandler(ownServices);
