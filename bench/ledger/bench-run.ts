// Settings that every part of the bench receives: its thoroughness, an earlier commit, running programs and progress.
import type { Resources } from '../../processes/resources.ts';
import { createProgress, type Progress } from '../progress.ts';

export interface BenchRun {
  /** A trial with smaller ledgers, whose figures are shown but not recorded. */
  readonly quick: boolean;
  /** A commit, or `release`, whose functions are started beside the present ones. */
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
