// Proves the new collection equal to the old one.

import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';
import { verify } from '../../lib/migration/verify-step.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(verify, services);
}

export const handler = createHandler(ownServices);
