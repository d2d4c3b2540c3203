// What stands in the way: a report, or a refusal; nothing is changed.

import { ownServices, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { preflight } from '../../lib/migration/steps/preflight.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(preflight, services);
}

export const handler = createHandler(ownServices);
