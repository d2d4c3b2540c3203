// Seed and size of generated tests. The seed is fixed, so that a run can be repeated; SEED=n sets another.
export const SEED = Number(process.env.SEED ?? 20_240_229);

/** Ends a search for a smaller counterexample if it hangs. The limit is far beyond any run, even on a busy machine. */
const MAX_SHRINKING_MS = 3_300_000;

/** True in `bash .ci/run full`. */
export const IS_FULL = process.env.TEST_MODE === 'full';

/** Scales a number of cases: all of them in `bash .ci/run full`, otherwise a twentieth. */
export function scaleCases(full: number): number {
  return IS_FULL ? full : Math.ceil(full / 20);
}

/** Returns parameters for fast-check. @param quickRuns number of cases in `npm test`, scaled by `scaleCases` unless given */
export function seeded(fullRuns: number, quickRuns = scaleCases(fullRuns)) {
  return {
    seed: SEED,
    numRuns: IS_FULL ? fullRuns : quickRuns,
    interruptAfterTimeLimit: MAX_SHRINKING_MS,
    markInterruptAsFailure: true,
  };
}
