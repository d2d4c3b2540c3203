// Opens the window: writes are stopped.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { freeze } from '../../lib/migration/steps/freeze.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(freeze, services);
}

export const handler = createHandler(ownServices);
