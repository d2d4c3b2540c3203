// Tracks the programs, folders and servers that a program has opened, so that it can release all of them at any point.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, type ChildCommand, startChild } from './child-process.ts';

export interface Resources {
  /**
   * Starts a program that `stop` ends.
   * @throws Error once stopping has begun
   */
  startProgram(command: ChildCommand): Child;
  /**
   * Registers a function that `stop` calls.
   * @throws Error once stopping has begun; the function still runs
   */
  onStop(release: () => void | Promise<void>): void;
  /**
   * Creates a folder that only this user can read; `stop` removes it.
   * @throws Error once stopping has begun
   */
  createTemporaryFolder(prefix: string, parent?: string): Promise<string>;
  /** Releases everything, the latest first; a second call waits for the first. */
  stop(): Promise<void>;
  isStopping(): boolean;
}

export function createResources(): Resources {
  const releases: (() => void | Promise<void>)[] = [];
  /** Set once stopping begins: interrupted code may still be running, and must not start anything more. */
  let stopped: Promise<void> | undefined;

  async function releaseAll(): Promise<void> {
    while (releases.length > 0) await releases.pop()?.();
  }

  function onStop(release: () => void | Promise<void>): void {
    releases.push(release);
    if (!stopped) return;
    stopped = stopped.then(releaseAll, releaseAll);
    throw new Error('Stopping');
  }

  return {
    onStop,
    startProgram(command) {
      if (stopped) throw new Error('Stopping');
      const child = startChild(command);
      releases.push(child.stop);
      return child;
    },
    async createTemporaryFolder(prefix, parent = tmpdir()) {
      const folder = await mkdtemp(join(parent, prefix));
      onStop(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    stop() {
      stopped ??= releaseAll();
      return stopped;
    },
    isStopping: () => stopped !== undefined,
  };
}
