// Ends a run before its window and removes what it has built on the store. Its artifacts stay.
import type { Run } from '../runs/run.ts';
import { collectionsOf } from '../runs/run-names.ts';
import type { Step } from '../runs/step.ts';
import { removeLeftoverSnapshot } from '../snapshots.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async ({ run }) => ({ removes: builtBy(run) }),
  work: async (context) => {
    const { services, run, renew } = context;
    const active = await services.setting.read();
    for (const collection of builtBy(run)) {
      if (collection === active) continue;
      await renew();
      await services.vectors.deleteCollection(collection);
    }
    await removeLeftoverSnapshot(context);
    return { done: true };
  },
};

// Before the preflight has found the names free, collections of these names belong to others.
function builtBy(run: Run): string[] {
  return run.phase === 'started' ? [] : collectionsOf(run);
}
