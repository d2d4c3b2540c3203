// What stands in the way: a report, or a refusal; nothing is changed.
import { preflight } from '../../lib/migration/preflight.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(preflight, services);
}

export const handler = createHandler(ownServices);
