// Settings that every part of the bench receives: thoroughness, folder and progress.
import type { Running } from '../../processes/running.ts';
import { createProgress, type Progress } from '../progress.ts';

export interface BenchRun {
  /** Smaller ledgers: a trial, whose figures are shown and not written down. */
  readonly quick: boolean;
  /** A commit, or `release`, whose functions are started beside those of now. */
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
