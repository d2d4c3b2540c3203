// What a person says who has looked at the evidence.

import { ownServices } from '../../lib/migration/runs/step-handler.ts';
import type { Services } from '../../lib/migration/services.ts';
import { approveGate } from '../../lib/migration/steps/approve.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await approveGate(await services(), payload);
}

export const handler = createHandler(ownServices);
