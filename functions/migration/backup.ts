// The step that backs up before anything changes: counts, a snapshot and a graph dump, with a restore test.

import { openServicesOnce, stepHandler } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { backup } from '../../lib/migration/steps/backup.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(backup, services);
}

export const handler = createHandler(openServicesOnce);
