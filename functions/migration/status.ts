// Where a run stands, for people and for the state machine; of the latest run unless one is named.

import { ownServices } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { statusOf } from '../../lib/migration/steps/status.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await statusOf(await services(), payload);
}

export const handler = createHandler(ownServices);
