// Records a person's confirmation that a manual action is done.

import type { Remembering } from '../../lib/migration/runs/run-store.ts';
import { openOwnRecords } from '../../lib/migration/runs/step-handler.ts';
import { confirmAction } from '../../lib/migration/steps/backend-actions.ts';

export function createHandler(remembering: () => Promise<Remembering>) {
  return async (payload: unknown) => await confirmAction(await remembering(), payload);
}

export const handler = createHandler(openOwnRecords);
