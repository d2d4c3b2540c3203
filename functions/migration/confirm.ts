// Records the operator's confirmation that a manual action is done.

import type { RunRecords } from '../../lib/migration/runs/run-store.ts';
import { openRecordsOnce } from '../../lib/migration/runs/step-handler.ts';
import { confirmAction } from '../../lib/migration/steps/backend-actions.ts';

export function createHandler(records: () => Promise<RunRecords>) {
  return async (payload: unknown) => await confirmAction(await records(), payload);
}

export const handler = createHandler(openRecordsOnce);
