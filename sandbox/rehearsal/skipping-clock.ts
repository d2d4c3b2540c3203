// The clock of an act. It runs like the machine's clock, and skips most waits.
import { setTimeout as pause } from 'node:timers/promises';
import type { Parts } from './parts.ts';

/** Time that passes between two polls of the state machine. */
const POLL_MS = 5_000;
/** A real store gets some real time for its work, but less than the clock shows. */
const REAL_STORE_MS = 1_000;

export type SkippingClock = ReturnType<typeof createSkippingClock>;

export function createSkippingClock({ backend, store }: Pick<Parts, 'backend' | 'store'>) {
  // With a real backend a deployment takes real time, so the definition's own pauses apply.
  const waitMs = backend ? ('as-defined' as const) : store.isReal ? REAL_STORE_MS : 0;
  let skipped = 0;
  const now = () => new Date(Date.now() + skipped);
  const startedAt = now();

  function advance(milliseconds: number): void {
    skipped += milliseconds;
  }

  return {
    now,
    advance,
    /** Time that the state machine really waits, in milliseconds */
    waitMs,
    minutes: () => (now().getTime() - startedAt.getTime()) / 60_000,
    advancePoll: () => advance(waitMs === 'as-defined' ? 0 : POLL_MS - waitMs),
    async wait(seconds: number): Promise<void> {
      const waited = waitMs === 'as-defined' ? seconds * 1_000 : waitMs;
      await pause(waited);
      advance(seconds * 1_000 - waited);
    },
  };
}
