// Ends a run before its window and removes what it has built on the store. Its artifacts stay.
import type { Run } from '../runs/run.ts';
import { collectionsOf } from '../runs/run-names.ts';
import type { Step } from '../runs/step.ts';
import { removeOwn } from './clean-up.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async ({ run }) => ({ removes: hasBuilt(run) ? collectionsOf(run) : [] }),
  work: async (context) => {
    if (hasBuilt(context.run)) await removeOwn(context);
    return { done: true };
  },
};

// Before the preflight has found the names free, collections of these names belong to others.
function hasBuilt({ phase }: Run): boolean {
  return phase !== 'started';
}
