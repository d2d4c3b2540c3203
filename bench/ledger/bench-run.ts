// Settings that every part of the bench receives: its thoroughness, an earlier commit, running programs and progress.
import type { Running } from '../../processes/running.ts';
import { createProgress, type Progress } from '../progress.ts';

export interface BenchRun {
  /** A trial with smaller ledgers, whose figures are shown but not recorded. */
  readonly quick: boolean;
  /** A commit, or `release`, whose functions are started beside the present ones. */
  readonly against?: string | undefined;
  readonly running: Running;
  readonly progress: Progress;
}

export function createBenchRun(
  running: Running,
  { quick, against }: Pick<BenchRun, 'quick' | 'against'>,
): BenchRun {
  const progress = createProgress();
  running.whenStopping(progress.done);
  return { quick, against, running, progress };
}
