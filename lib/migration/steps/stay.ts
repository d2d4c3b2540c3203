// Calls a return off: as long as the setting names the new collection, writes are opened there again.

import { Refusal } from '../refusals.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import { type Step, type StepContext, waiting } from '../runs/step.ts';
import { isDoneOutside } from './ask-outside.ts';
import { goLive } from './go-live.ts';

export const stay: Step = {
  command: 'stay',
  forecast: async (context) => {
    await assertMayStay(context);
    return { staysOn: liveCollectionOf(context.run) };
  },
  guard: assertMayStay,
  mayBeLate: 'always',
  work: async (turn) => {
    const { run } = turn;
    if (!(await isDoneOutside(turn, 'open-writes', liveCollectionOf(run)))) {
      return waiting();
    }
    // A return out of the window has kept the cutover from its end.
    return run.liveAt === undefined ? await goLive(turn) : { done: true };
  },
};

// The old version is deployed only after the setting was changed: until then the new one is still there.
async function assertMayStay({ services, run }: StepContext): Promise<void> {
  if (run.openedAt === undefined) {
    throw new Refusal('RefusedNotNow', 'Nobody was let into the new version yet.');
  }
  const active = await services.setting.read();
  if (active === liveCollectionOf(run)) return;
  throw new Refusal('RefusedNotNow', `The setting names ${active} by now.`);
}
