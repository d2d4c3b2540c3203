// The step that creates the new collection and its companion, and verifies them if the new version can already be reached.

import { openServicesOnce, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { rebuild } from '../../lib/migration/steps/rebuild.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(rebuild, services);
}

export const handler = createHandler(openServicesOnce);
