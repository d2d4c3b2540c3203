// Counts the days of the way back, once a day; and, every few minutes of a window, whether it has closed.

import { ownServices } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { keepWatch } from '../../lib/migration/steps/watch.ts';

export function createHandler(services: () => Promise<Services>) {
  return async () => await keepWatch(await services());
}

export const handler = createHandler(ownServices);
