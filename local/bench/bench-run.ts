// What every part of the bench is given: how thorough to be, where to put things, and how to tell how far it is.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Running } from '../running.ts';
import { createProgress, type Progress } from './progress.ts';

export interface BenchRun {
  /** Smaller ledgers: a trial, whose figures are shown and not written down. */
  readonly quick: boolean;
  readonly running: Running;
  readonly progress: Progress;
  /** A new folder that is gone when the bench ends. */
  temporaryFolder(): Promise<string>;
}

export function createBenchRun(running: Running, quick: boolean): BenchRun {
  const progress = createProgress();
  running.whenStopping(progress.done);
  return {
    quick,
    running,
    progress,
    async temporaryFolder() {
      const folder = await mkdtemp(join(tmpdir(), 'ledger-bench-'));
      running.whenStopping(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
  };
}
