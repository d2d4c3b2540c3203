// Reads the status of a run, for people and for the state machine; of the present run unless one is named.

import type { RunRecords } from '../../lib/migration/runs/run-store.ts';
import { openOwnRecords } from '../../lib/migration/runs/step-handler.ts';
import { describeRun } from '../../lib/migration/steps/status.ts';

export function createHandler(records: () => Promise<RunRecords>) {
  return async (payload: unknown) => await describeRun(await records(), payload);
}

export const handler = createHandler(openOwnRecords);
