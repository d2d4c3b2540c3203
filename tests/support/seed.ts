// The seed of every generated test: fixed, so that a run can be repeated, and another one can be asked for with SEED=n.
export const SEED = Number(process.env.SEED ?? 20_240_229);

/** Parameters for fast-check; a failure is reported with the seed and the path to its example. */
export function seeded(numRuns: number) {
  return { seed: SEED, numRuns };
}
