// The step that copies every point, or only the changes since the last copy.

import { openServicesOnce, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { copy } from '../../lib/migration/steps/copy.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(copy, services);
}

export const handler = createHandler(openServicesOnce);
