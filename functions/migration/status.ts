// Reads the status of a run, for operators and for the state machine: the current run, unless the payload names another.

import type { RunRecords } from '../../lib/migration/runs/run-store.ts';
import { openRecordsOnce } from '../../lib/migration/runs/step-handler.ts';
import { describeRun } from '../../lib/migration/steps/status.ts';

export function createHandler(records: () => Promise<RunRecords>) {
  return async (payload: unknown) => await describeRun(await records(), payload);
}

export const handler = createHandler(openRecordsOnce);
