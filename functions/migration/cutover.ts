// Setting, new version, smoke test, counts.
import { cutover } from '../../lib/migration/cutover.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(cutover, services);
}

export const handler = createHandler(ownServices);
