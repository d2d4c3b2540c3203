// The step that aborts a run before the window.

import { openServicesOnce, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { abort } from '../../lib/migration/steps/abort.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(abort, services);
}

export const handler = createHandler(openServicesOnce);
