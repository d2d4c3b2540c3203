// What a person says who has looked at the evidence.
import { approveGate } from '../../lib/migration/approve.ts';
import type { Services } from '../../lib/migration/services.ts';
import { ownServices } from '../../lib/migration/step-handler.ts';

export function createHandler(services: () => Promise<Services>) {
  return async (payload: unknown) => await approveGate(await services(), payload);
}

export const handler = createHandler(ownServices);
