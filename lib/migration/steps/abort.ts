// Ends a run before its window and removes what it has built on the store. Its artifacts stay.
import type { Run } from '../runs/run.ts';
import { collectionsOf } from '../runs/run-names.ts';
import type { Step } from '../runs/step.ts';
import { removeLeftoverSnapshot } from '../snapshots.ts';
import { removeCollections } from './clean-up.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async ({ run }) => ({ removes: builtBy(run) }),
  work: async (context) => {
    await removeCollections(context, builtBy(context.run));
    await removeLeftoverSnapshot(context);
    return { done: true };
  },
};

// Before the preflight has found the names free, collections of these names belong to others.
function builtBy(run: Run): string[] {
  return run.phase === 'started' ? [] : collectionsOf(run);
}
