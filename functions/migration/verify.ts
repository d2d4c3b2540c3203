// Proves the new collection equal to the old one.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { verify } from '../../lib/migration/steps/copy.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(verify, services);
}

export const handler = createHandler(ownServices);
