// A pace whose time passes in sleep alone, so that nothing waits. It remembers what it was asked for.
import { type Pace, STANDARD_PACE } from '../../lib/retry.ts';

export interface ImpatientPace extends Pace {
  /** Milliseconds of every sleep so far. */
  readonly delays: readonly number[];
}

/** @param random stands for luck; always half by default */
export function createImpatientPace(random: () => number = () => 0.5): ImpatientPace {
  const delays: number[] = [];
  let time = 0;
  return {
    ...STANDARD_PACE,
    delays,
    random,
    now: () => time,
    sleep: async (milliseconds) => {
      delays.push(milliseconds);
      time += milliseconds;
    },
  };
}
