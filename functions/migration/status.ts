// Where a run stands, for people and for the state machine; of the latest run unless one is named.

import type { Services } from '../../lib/migration/services.ts';
import { statusOf } from '../../lib/migration/status.ts';
import { ownServices } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await statusOf(await services(), payload);
}

export const handler = createHandler(ownServices);
