// What a program has started and created, so that all of it can be undone at any point.
import { type Child, type ChildCommand, startChild } from './child-process.ts';

export interface Running {
  /** Starts a program that is stopped with the rest. */
  startProgram(command: ChildCommand): Child;
  /** Registers what to do when everything stops. */
  whenStopping(undo: () => void | Promise<void>): void;
  /** Undoes everything, last first; the second call waits for the first. */
  stop(): Promise<void>;
}

export function createRunning(): Running {
  const undoing: (() => void | Promise<void>)[] = [];
  let stopped: Promise<void> | undefined;

  async function undoAll(): Promise<void> {
    for (const undo of undoing.reverse()) await undo();
  }

  return {
    startProgram(command) {
      // The code that was interrupted goes on to its next line, and must not start anything then.
      if (stopped) throw new Error('Stopping');
      const child = startChild(command);
      undoing.push(child.stop);
      return child;
    },
    whenStopping(undo) {
      undoing.push(undo);
    },
    stop() {
      stopped ??= undoAll();
      return stopped;
    },
  };
}
