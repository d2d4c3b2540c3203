// Every point, or whatever has changed since.
import { copy } from '../../lib/migration/copy-step.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(copy, services);
}

export const handler = createHandler(ownServices);
