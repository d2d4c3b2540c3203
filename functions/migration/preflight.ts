// Checks the prerequisites of a run, and creates the run if it does not exist.
import { type InvocationContext, ownServices } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { takePreflight } from '../../lib/migration/steps/preflight.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown, context: InvocationContext) =>
    await takePreflight(await services(), payload, {
      timeLeftMs: () => context.getRemainingTimeInMillis(),
      interruption: context.interruption,
    });
}

export const handler = createHandler(ownServices);
