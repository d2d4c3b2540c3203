// Runs over a table of the test's own, with a clock that the test turns.
import { createRemembering } from '../../../lib/migration/runs/remembering.ts';
import type { Plan } from '../../../lib/migration/runs/run.ts';
import { createTestTable } from '../test-table.ts';
import { createManualTicker } from './manual-ticker.ts';

export { LEASE_MS } from '../../../lib/migration/runs/remembering.ts';

export const PLAN: Plan = {
  sourceCollection: 'memories',
  targetCollection: 'memories_v3_first-run',
  windowMinutes: 30,
  retentionDays: 30,
  accepts: [],
  removesWhenOver: false,
  removesArtifactsWhenOver: false,
};

export async function createRunTable() {
  const { client, tableName } = await createTestTable();
  let time = Date.parse('2026-03-01T09:00:00Z');
  const clock = () => new Date(time);
  const { ticker, beat, intervals } = createManualTicker();
  return {
    ...createRemembering({ client, tableName, clock, ticker }),
    beat,
    beatIntervals: intervals,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}
