// Begins a run, with a plan that is fixed from then on.

import type { Services } from '../../lib/migration/services.ts';
import { startRun } from '../../lib/migration/start.ts';
import { ownServices } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await startRun(await services(), payload);
}

export const handler = createHandler(ownServices);
