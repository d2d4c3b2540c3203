// Measures the time of contenders in turns, so that other load on the machine affects all of them alike.
import { median } from '../statistics.ts';

/** Does the work once. @returns its duration in milliseconds */
export type Contender = () => Promise<number>;

export function createContender(work: () => Promise<unknown>): Contender {
  return async () => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
}

/**
 * Runs every contender once without counting it, and then once in each round. Each round starts with another contender, so that
 * none of them always runs first.
 * @returns the median of each contender in milliseconds
 */
export async function race(
  contenders: readonly Contender[],
  rounds: number,
  onRound: () => void = () => undefined,
): Promise<number[]> {
  const lanes = contenders.map((run) => ({ run, times: [] as number[] }));
  for (const { run } of lanes) await run();
  for (let round = 0; round < rounds; round += 1) {
    const first = round % lanes.length;
    for (const lane of [...lanes.slice(first), ...lanes.slice(0, first)]) {
      lane.times.push(await lane.run());
    }
    onRound();
  }
  return lanes.map(({ times }) => median(times));
}
