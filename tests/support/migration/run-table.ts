// Runs over a table of the test's own, with a clock that the test turns.
import { createApprovals } from '../../../lib/migration/approvals.ts';
import type { Plan } from '../../../lib/migration/run.ts';
import { createRunLock } from '../../../lib/migration/run-lock.ts';
import { createRunStore } from '../../../lib/migration/run-store.ts';
import { STANDARD_PACE } from '../../../lib/retry.ts';
import { createDatabase } from '../../../lib/store/database.ts';
import { createTestTable } from '../test-table.ts';

export const LEASE_MS = 60_000;

export const PLAN: Plan = {
  sourceCollection: 'memories',
  targetCollection: 'memories_v3_first-run',
  windowMinutes: 30,
  retentionDays: 30,
  accepts: [],
  removesWhenOver: false,
};

export async function createRunTable() {
  const { client, tableName } = await createTestTable();
  let time = Date.parse('2026-03-01T09:00:00Z');
  const clock = () => new Date(time);
  const database = createDatabase({ client, tableName, pace: STANDARD_PACE });
  const lock = createRunLock({ database, clock, leaseMs: LEASE_MS });
  return {
    database,
    lock,
    runs: createRunStore({ database, lock, clock }),
    approvals: createApprovals({ database, clock }),
    clock,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}
