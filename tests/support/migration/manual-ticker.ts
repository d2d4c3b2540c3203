// Beats that come when a test says so.
import type { Ticker } from '../../../lib/migration/runs/run-lock.ts';

export interface ManualTicker {
  readonly ticker: Ticker;
  /** Once for everybody who waits for it; returns when all have done what they do then. */
  beat(): Promise<void>;
  /** What those who have not stopped yet have asked for. */
  intervals(): number[];
}

export function createManualTicker(): ManualTicker {
  const waiting = new Set<{ readonly everyMs: number; readonly tick: () => Promise<void> }>();
  return {
    ticker(everyMs, tick) {
      const one = { everyMs, tick };
      waiting.add(one);
      return () => waiting.delete(one);
    },
    beat: async () => {
      await Promise.all([...waiting].map(({ tick }) => tick()));
    },
    intervals: () => [...waiting].map(({ everyMs }) => everyMs),
  };
}
