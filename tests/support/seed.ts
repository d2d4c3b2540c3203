// The seed of every generated test: fixed, so that a run can be repeated, and another one can be asked for with SEED=n.
export const SEED = Number(process.env.SEED ?? 20_240_229);

/** A failure is to be told, with the seed and the path to its example, before the test is cut off for lasting too long. */
const SHRINKING_MILLISECONDS = 240_000;

/** Parameters for fast-check. */
export function seeded(numRuns: number) {
  return {
    ...{ seed: SEED, numRuns },
    ...{ interruptAfterTimeLimit: SHRINKING_MILLISECONDS, markInterruptAsFailure: true },
  };
}
