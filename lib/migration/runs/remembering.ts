// The records of runs in one table: record, checkpoints, lock, confirmations.
import { DEFAULT_RETRY_POLICY } from '../../retry.ts';
import { createDatabase } from '../../store/database.ts';
import { createConfirmations } from './confirmations.ts';
import { intervals, type Ticker } from './heartbeat.ts';
import { createRunLock } from './run-lock.ts';
import { createRunStore } from './run-store.ts';

/**
 * The lock of a crashed step expires after this time. It is longer than any single change takes, so that no two steps
 * write at once.
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
