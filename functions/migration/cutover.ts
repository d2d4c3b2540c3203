// The step of the window: changes the setting, switches to the new version, and verifies it with a smoke test and counts.

import { openServicesOnce, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { cutover } from '../../lib/migration/steps/cutover.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(cutover, services);
}

export const handler = createHandler(openServicesOnce);
