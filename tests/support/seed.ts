// Seed and size of generated tests. The seed is fixed, so that a run can be repeated; SEED=n chooses another.
export const SEED = Number(process.env.SEED ?? 20_240_229);

/** Long enough for fast-check to report the seed and the counterexample before the test times out. */
const SHRINKING_MILLISECONDS = 240_000;

/** Whether this is `npm run test:full`. */
export const IS_FULL = process.env.TEST_MODE === 'full';

/** All of them in `npm run test:full`, a tenth otherwise. */
export function sizeOfRun(full: number): number {
  return IS_FULL ? full : Math.ceil(full / 10);
}

/** Parameters for fast-check. */
export function seeded(fullRuns: number) {
  return {
    ...{ seed: SEED, numRuns: sizeOfRun(fullRuns) },
    ...{ interruptAfterTimeLimit: SHRINKING_MILLISECONDS, markInterruptAsFailure: true },
  };
}
