// The context of a bench run: its options, the programs that it has started, and a progress bar.
import type { Resources } from '../../processes/resources.ts';
import { createProgress, type Progress } from '../progress.ts';

export interface BenchRun {
  /** True for a run with smaller ledgers, whose figures are shown but not recorded. */
  readonly quick: boolean;
  /** An earlier commit to measure as well, or `release` for the last release. */
  readonly against?: string | undefined;
  readonly resources: Resources;
  readonly progress: Progress;
}

export function createBenchRun(
  resources: Resources,
  { quick, against }: Pick<BenchRun, 'quick' | 'against'>,
): BenchRun {
  const progress = createProgress();
  resources.onStop(progress.done);
  return { quick, against, resources, progress };
}
