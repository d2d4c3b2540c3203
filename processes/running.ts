// Everything a program has started and created, so that all of it can be undone at any point.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, type ChildCommand, startChild } from './child-process.ts';

export interface Running {
  /**
   * Starts a program that is stopped with the rest.
   * @throws Error after the stop
   */
  startProgram(command: ChildCommand): Child;
  /**
   * Registers what to do when everything stops.
   * @throws Error after the stop; what was made before is undone then
   */
  whenStopping(undo: () => void | Promise<void>): void;
  /**
   * Makes a folder, closed to other users, that is removed when everything stops.
   * @throws Error after the stop
   */
  temporaryFolder(prefix: string, parent?: string): Promise<string>;
  /** Undoes everything, last first; the second call waits for the first. */
  stop(): Promise<void>;
  isStopping(): boolean;
}

export function createRunning(): Running {
  const undoing: (() => void | Promise<void>)[] = [];
  /** Set once stopping begins: interrupted code may still run on, and must not start anything more. */
  let stopped: Promise<void> | undefined;

  async function undoAll(): Promise<void> {
    while (undoing.length > 0) await undoing.pop()?.();
  }

  function whenStopping(undo: () => void | Promise<void>): void {
    undoing.push(undo);
    if (!stopped) return;
    stopped = stopped.then(undoAll, undoAll);
    throw new Error('Stopping');
  }

  return {
    whenStopping,
    startProgram(command) {
      if (stopped) throw new Error('Stopping');
      const child = startChild(command);
      undoing.push(child.stop);
      return child;
    },
    async temporaryFolder(prefix, parent = tmpdir()) {
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
