// Gives a run up before users were touched, and removes what it has built. Its artifacts stay.

import { collectionsOf } from './run-names.ts';
import type { Step } from './step.ts';

export const abandon: Step = {
  command: 'abandon',
  forecast: async ({ run }) => ({ removes: collectionsOf(run) }),
  work: async ({ services, run, renew }) => {
    const active = await services.setting.read();
    for (const collection of collectionsOf(run)) {
      if (collection === active) continue;
      await renew();
      await services.vectors.deleteCollection(collection);
    }
    return { done: true };
  },
};
