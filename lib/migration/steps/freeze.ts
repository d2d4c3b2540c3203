// Opens the window: writes are stopped, which is proved, and those under way have the time to end.
import * as v from 'valibot';
import { storeReport } from '../runs/reports.ts';
import { type Step, waiting } from '../runs/step.ts';
import { isDoneOutside } from './ask-outside.ts';
import { FREEZE_POLL_SECONDS, lookSchema, proveFrozen } from './write-freeze.ts';

const stateSchema = v.object({ look: v.optional(lookSchema) });

export const freeze: Step = {
  command: 'freeze',
  forecast: async ({ run }) => ({
    windowMinutes: run.plan.windowMinutes,
    asks: 'the webhook or a person to stop all writes',
  }),
  onEntering: ({ services, run }) => ({
    deadlineAt: services.clock().getTime() + run.plan.windowMinutes * 60_000,
  }),
  work: async (context) => {
    const { services, run, lease, checkpoint, save } = context;
    const { sourceCollection } = run.plan;
    const { look } = v.parse(stateSchema, checkpoint?.state ?? {});
    if (!(await isDoneOutside(context, 'freeze', sourceCollection))) {
      return waiting();
    }
    const facts = await proveFrozen(context, {
      collection: sourceCollection,
      companions: [],
      look,
      remember: (seen) => save(seen ? { look: seen } : {}),
    });
    if (!facts) return waiting(FREEZE_POLL_SECONDS);
    const evidence = await storeReport(services, {
      lease,
      name: 'freeze-proof',
      content: { runId: run.runId, collection: sourceCollection, ...facts },
      facts: { ...facts },
    });
    return { done: true, evidence };
  },
};
