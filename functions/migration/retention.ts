// The watchdog: rolls back a window whose time is up, and ends the rollback period of a live run when it is due. A payload that
// names a run takes only the step "retention".

import { openOwnServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { retention } from '../../lib/migration/steps/retention.ts';
import { keepWatch, namesRun } from '../../lib/migration/steps/watch.ts';

export function createHandler(services: () => Promise<Services>) {
  const takeRetention = stepHandler(retention, services);
  return async (payload: unknown, context: Parameters<typeof takeRetention>[1]) =>
    namesRun(payload)
      ? await takeRetention(payload, context)
      : await keepWatch(await services(), () => context.getRemainingTimeInMillis());
}

export const handler = createHandler(openOwnServices);
