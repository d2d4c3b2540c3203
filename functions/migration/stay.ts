// A return is called off.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { stay } from '../../lib/migration/steps/stay.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(stay, services);
}

export const handler = createHandler(ownServices);
