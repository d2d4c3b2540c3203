// The clock of an act: it goes with the machine's own, and is turned on wherever nobody needs to wait.
import { setTimeout as pause } from 'node:timers/promises';
import type { Parts } from './parts.ts';

/** What a poll of the state machine takes. */
const POLL_MS = 5_000;
/** A real store is given time to do what it was asked for; nobody has to sit through all of it. */
const REAL_STORE_MS = 1_000;

export type TurnedClock = ReturnType<typeof createTurnedClock>;

export function createTurnedClock({ backend, store }: Pick<Parts, 'backend' | 'store'>) {
  // What is deployed takes the time it takes.
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
