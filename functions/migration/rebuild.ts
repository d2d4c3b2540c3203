// The new collection and its companion, proved.
import { rebuild } from '../../lib/migration/rebuild.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(rebuild, services);
}

export const handler = createHandler(ownServices);
