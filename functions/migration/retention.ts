// Counts the days until a rollback is no longer possible, once a day; and, every few minutes of a window, whether it has closed. For a run
// that is named, the step by itself.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { retention } from '../../lib/migration/steps/retention.ts';
import { keepWatch, namesARun } from '../../lib/migration/steps/watch.ts';

export function createHandler(services: () => Promise<Services>) {
  const takeRetention = stepHandler(retention, services);
  return async (payload: unknown, context: Parameters<typeof takeRetention>[1]) =>
    namesARun(payload)
      ? await takeRetention(payload, context)
      : await keepWatch(await services(), () => context.getRemainingTimeInMillis());
}

export const handler = createHandler(ownServices);
