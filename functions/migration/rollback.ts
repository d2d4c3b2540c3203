// The step that returns users to the old version.

import { openServicesOnce, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { rollback } from '../../lib/migration/steps/rollback.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(rollback, services);
}

export const handler = createHandler(openServicesOnce);
