// The watchdog: rolls back a window whose time is up, and ends the retention of live and aborted runs when it is due. If the
// payload names a run, it only ends the retention of that run.

import { type InvocationContext, openServicesOnce } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { endRetention, keepWatch, namesRun } from '../../lib/migration/steps/watch.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown, context: InvocationContext) => {
    const { interruption } = context;
    const timeLeftMs = () => context.getRemainingTimeInMillis();
    return namesRun(payload)
      ? await endRetention(await services(), { payload, timeLeftMs, interruption })
      : await keepWatch(await services(), timeLeftMs);
  };
}

export const handler = createHandler(openServicesOnce);
