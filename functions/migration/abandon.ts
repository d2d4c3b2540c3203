// Gives a run up before the window.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { abandon } from '../../lib/migration/steps/abandon.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(abandon, services);
}

export const handler = createHandler(ownServices);
