// Ends a run before its window and removes what it has built on the store. Its artifacts stay.
import { collectionsOf } from '../runs/run-names.ts';
import type { Step } from '../runs/step.ts';
import { removeOwn } from './clean-up.ts';
import { undoInPlace } from './in-place.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async ({ run }) => ({ removes: collectionsOf(run) }),
  work: async (context) => {
    await removeOwn(context);
    await undoInPlace(context);
    return { done: true };
  },
};
