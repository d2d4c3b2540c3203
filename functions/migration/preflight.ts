// Checks the prerequisites of a run, and begins the run if it does not exist.
import { openServicesOnce } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { runPreflight } from '../../lib/migration/steps/preflight.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await runPreflight(await services(), payload);
}

export const handler = createHandler(openServicesOnce);
