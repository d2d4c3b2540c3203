// What every part of the bench is given: how thorough to be, where to put things, and how to tell how far it is.
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
