// Work of several requests, such as an import or a merge. A reload would cut it off in the middle, so the page reloads afterwards.
import { effect, signal } from '@preact/signals';

const runningCount = signal(0);

export const isWorking = () => runningCount.peek() > 0;

export async function work<Result>(run: () => Promise<Result>): Promise<Result> {
  runningCount.value += 1;
  try {
    return await run();
  } finally {
    runningCount.value -= 1;
  }
}

/** Runs once no work is under way: at once if there is none. */
export async function afterWork(run: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (runningCount.value === 0) resolve();
  });
  await promise;
  stop();
  run();
}
