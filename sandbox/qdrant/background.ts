// Work that continues after its request was answered.

export interface Background {
  /** Its errors are not reported. */
  start(task: Promise<unknown>): void;
  /** Returns when nothing is under way. */
  idle(): Promise<void>;
}

export function createBackground(): Background {
  const tasks = new Set<Promise<unknown>>();

  function start(task: Promise<unknown>): void {
    const ended = task.catch(() => undefined).finally(() => tasks.delete(ended));
    tasks.add(ended);
  }

  async function idle(): Promise<void> {
    while (tasks.size > 0) await Promise.all(tasks);
  }

  return { start, idle };
}
