// Counts, snapshot, graph dump and a restore for a try.
import { backup } from '../../lib/migration/backup.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices, stepHandler } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return stepHandler(backup, services);
}

export const handler = createHandler(ownServices);
