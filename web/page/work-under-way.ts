// Work of several requests, such as an import or a merge. A reload would cut it off in the middle, so the page reloads afterwards.
import { signal } from '@preact/signals';
import { untilTrue } from './until-true.ts';

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
  await untilTrue(() => runningCount.value === 0);
  run();
}
