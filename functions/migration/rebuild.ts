// The new collection and its companion, proved.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { rebuild } from '../../lib/migration/steps/rebuild.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(rebuild, services);
}

export const handler = createHandler(ownServices);
