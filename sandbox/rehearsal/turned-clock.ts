// The clock of an act: it runs with the machine's clock, and is turned forward where waiting would serve no purpose.
import { setTimeout as pause } from 'node:timers/promises';
import type { Parts } from './parts.ts';

/** Duration of a poll of the state machine. */
const POLL_MS = 5_000;
/** A real store gets some real time for its work, but not all that the clock shows. */
const REAL_STORE_MS = 1_000;

export type TurnedClock = ReturnType<typeof createTurnedClock>;

export function createTurnedClock({ backend, store }: Pick<Parts, 'backend' | 'store'>) {
  // A real deployment takes real time.
  const waitMs = backend ? ('as-defined' as const) : store.isReal ? REAL_STORE_MS : 0;
  let skipped = 0;
  const now = () => new Date(Date.now() + skipped);
  const begun = now();

  function pass(milliseconds: number): void {
    skipped += milliseconds;
  }

  return {
    now,
    pass,
    /** For how long the state machine really waits. */
    waitMs,
    minutes: () => (now().getTime() - begun.getTime()) / 60_000,
    passPoll: () => pass(waitMs === 'as-defined' ? 0 : POLL_MS - waitMs),
    async wait(seconds: number): Promise<void> {
      const waited = waitMs === 'as-defined' ? seconds * 1_000 : waitMs;
      await pause(waited);
      pass(seconds * 1_000 - waited);
    },
  };
}
