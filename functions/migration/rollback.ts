// The way back.
import { rollback } from '../../lib/migration/rollback.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(rollback, services);
}

export const handler = createHandler(ownServices);
