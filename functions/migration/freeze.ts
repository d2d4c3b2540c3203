// Opens the window: writes are stopped.
import { freeze } from '../../lib/migration/freeze.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(freeze, services);
}

export const handler = createHandler(ownServices);
