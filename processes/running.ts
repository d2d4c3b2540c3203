// Tracks everything that a program has started and created, so that all of it can be undone at any point.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, type ChildCommand, startChild } from './child-process.ts';

export interface Running {
  /**
   * Starts a program that is stopped along with everything else.
   * @throws Error once stopping has begun
   */
  startProgram(command: ChildCommand): Child;
  /**
   * Registers an undo function for the stop.
   * @throws Error once stopping has begun; the undo function still runs
   */
  whenStopping(undo: () => void | Promise<void>): void;
  /**
   * Creates a folder, closed to other users, that is removed when everything stops.
   * @throws Error once stopping has begun
   */
  createTemporaryFolder(prefix: string, parent?: string): Promise<string>;
  /** Undoes everything, the latest first; a second call waits for the first. */
  stop(): Promise<void>;
  isStopping(): boolean;
}

export function createRunning(): Running {
  const undoFunctions: (() => void | Promise<void>)[] = [];
  /** Set once stopping begins: interrupted code may still be running, and must not start anything more. */
  let stopped: Promise<void> | undefined;

  async function undoAll(): Promise<void> {
    while (undoFunctions.length > 0) await undoFunctions.pop()?.();
  }

  function whenStopping(undo: () => void | Promise<void>): void {
    undoFunctions.push(undo);
    if (!stopped) return;
    stopped = stopped.then(undoAll, undoAll);
    throw new Error('Stopping');
  }

  return {
    whenStopping,
    startProgram(command) {
      if (stopped) throw new Error('Stopping');
      const child = startChild(command);
      undoFunctions.push(child.stop);
      return child;
    },
    async createTemporaryFolder(prefix, parent = tmpdir()) {
      const folder = await mkdtemp(join(parent, prefix));
      whenStopping(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    stop() {
      stopped ??= undoAll();
      return stopped;
    },
    isStopping: () => stopped !== undefined,
  };
}
