// What is remembered of runs, over one table: records, the lock, confirmations.
import { DEFAULT_RETRY_POLICY } from '../../retry.ts';
import { createDatabase } from '../../store/database.ts';
import { createConfirmations } from './confirmations.ts';
import { intervals, type Ticker } from './heartbeat.ts';
import { createRunLock } from './run-lock.ts';
import { createRunStore } from './run-store.ts';

/**
 * A step that has not been heard of for so long is taken for dead. Longer than any one change takes: what was begun
 * in a turn has its answer in it, and no two turns write at once.
 */
export const LEASE_MS = 120_000;

export type Remembering = ReturnType<typeof createRemembering>;

export function createRemembering(options: {
  readonly client: Parameters<typeof createDatabase>[0]['client'];
  readonly tableName: string;
  readonly clock: () => Date;
  readonly ticker?: Ticker;
}) {
  const { client, tableName, clock, ticker = intervals } = options;
  const database = createDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  const lock = createRunLock({ database, clock, leaseMs: LEASE_MS, ticker });
  return {
    clock,
    lock,
    runs: createRunStore({ database, lock, clock }),
    confirmations: createConfirmations({ database, clock }),
  };
}
