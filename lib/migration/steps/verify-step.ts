// Compares the new collection with the old one while users go on writing: what differs then is copied in the window.
import type { Step } from '../runs/step.ts';
import { reconcileInStep, reconcileSettings, storeComparison } from './copy-step.ts';

export const verify: Step = {
  command: 'verify',
  work: async (context) => {
    const settings = await reconcileSettings(context, 'compare');
    const { isComplete, report } = await reconcileInStep(context, settings);
    if (!isComplete) return { done: false, waitSeconds: 0 };
    const { evidence } = await storeComparison(context, settings, report);
    return { done: true, evidence };
  },
};
