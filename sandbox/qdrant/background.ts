// Runs work that continues after the response to its request.

export interface Background {
  /** Tracks a running task, and ignores its errors. */
  track(task: Promise<unknown>): void;
  /** Resolves when no task is running. */
  waitUntilIdle(): Promise<void>;
}

export function createBackground(): Background {
  const tasks = new Set<Promise<unknown>>();

  function start(task: Promise<unknown>): void {
    const ended = task.catch(() => undefined).finally(() => tasks.delete(ended));
    tasks.add(ended);
  }

  async function waitUntilIdle(): Promise<void> {
    while (tasks.size > 0) await Promise.all(tasks);
  }

  return { track: start, waitUntilIdle };
}
