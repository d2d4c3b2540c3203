// The clock of an act. It runs like the machine's clock, and is set forward instead of waiting.
import { setTimeout as pause } from 'node:timers/promises';
import type { Parts } from './parts.ts';

/** Time that passes between two polls of the state machine. */
const POLL_MS = 5_000;
/** A real store gets some real time for its work, but less than the clock shows. */
const REAL_STORE_MS = 1_000;

export type TurnedClock = ReturnType<typeof createTurnedClock>;

export function createTurnedClock({ backend, store }: Pick<Parts, 'backend' | 'store'>) {
  // With a real backend a deployment takes real time, so the definition's own pauses apply.
  const waitMs = backend ? ('as-defined' as const) : store.isReal ? REAL_STORE_MS : 0;
  let skipped = 0;
  const now = () => new Date(Date.now() + skipped);
  const startedAt = now();

  function pass(milliseconds: number): void {
    skipped += milliseconds;
  }

  return {
    now,
    pass,
    /** Time that the state machine really waits, in milliseconds */
    waitMs,
    minutes: () => (now().getTime() - startedAt.getTime()) / 60_000,
    passPoll: () => pass(waitMs === 'as-defined' ? 0 : POLL_MS - waitMs),
    async wait(seconds: number): Promise<void> {
      const waited = waitMs === 'as-defined' ? seconds * 1_000 : waitMs;
      await pause(waited);
      pass(seconds * 1_000 - waited);
    },
  };
}
