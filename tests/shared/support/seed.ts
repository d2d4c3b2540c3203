// Seed and size of generated tests. The seed is fixed, so that a run can be repeated; SEED=n chooses another.
export const SEED = Number(process.env.SEED ?? 20_240_229);

/** Ends a search for a smaller counterexample that hangs; no run comes near it, however busy the machine is. */
const SHRINKING_MILLISECONDS = 1_500_000;

/** True in `bash .ci/run full`. */
export const IS_FULL = process.env.TEST_MODE === 'full';

/** All of them in `bash .ci/run full`, a twentieth otherwise. */
export function sizeOfRun(full: number): number {
  return IS_FULL ? full : Math.ceil(full / 20);
}

/** Parameters for fast-check. */
export function seeded(fullRuns: number) {
  return {
    seed: SEED,
    numRuns: sizeOfRun(fullRuns),
    interruptAfterTimeLimit: SHRINKING_MILLISECONDS,
    markInterruptAsFailure: true,
  };
}
