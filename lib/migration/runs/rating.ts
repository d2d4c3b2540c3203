// How fast a step works, measured from the beginning of its invocation.
import type { Progress } from './run.ts';

/** For one invocation. */
export function createRating(clock: () => Date) {
  let first: { readonly done: number; readonly at: number } | undefined;
  return (progress?: Progress): { readonly progress?: Progress } => {
    if (!progress) return {};
    const { done } = progress;
    const at = clock().getTime();
    first ??= { done, at };
    const seconds = (at - first.at) / 1_000;
    if (seconds <= 0 || done <= first.done) return { progress };
    return { progress: { ...progress, perSecond: (done - first.done) / seconds } };
  };
}
