// Work of several requests, such as an import or a merge. A reload would interrupt it, so the page reloads afterwards.
import { signal } from '@preact/signals';
import { untilTrue } from './until-true.ts';

const runningCount = signal(0);

export const isWorking = () => runningCount.peek() > 0;

export async function trackWork<Result>(run: () => Promise<Result>): Promise<Result> {
  runningCount.value += 1;
  try {
    return await run();
  } finally {
    runningCount.value -= 1;
  }
}

/** Calls the function once no work is under way. */
export async function afterWork(run: () => void): Promise<void> {
  await untilTrue(() => runningCount.value === 0);
  run();
}
