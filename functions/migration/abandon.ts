// Gives a run up before the window.
import { abandon } from '../../lib/migration/abandon.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(abandon, services);
}

export const handler = createHandler(ownServices);
