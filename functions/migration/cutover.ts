// Setting, new version, smoke test, counts.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { cutover } from '../../lib/migration/steps/cutover.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(cutover, services);
}

export const handler = createHandler(ownServices);
