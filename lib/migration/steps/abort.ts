// Ends a run before its window and removes what it has built on the store. Its artifacts stay for the days of the
// retention: then the watch removes them.
import { builtCollectionsOf } from '../runs/run-names.ts';
import type { Step, StepContext } from '../runs/step.ts';
import { listOwnCollections, removeOwn } from './clean-up.ts';
import { countChanges } from './equalise.ts';
import { undoInPlace } from './in-place.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async (request) => ({ removes: listOwnCollections(request) }),
  work: async (context) => {
    const { run, note } = context;
    const written = (await isWrittenTo(context)) ? builtCollectionsOf(run) : [];
    // Named before the end: killed in between, the next abort finds the same.
    if (written[0]) await note({ kept: [...new Set([...run.kept, written[0]])] });
    await removeOwn(context, { except: written });
    await undoInPlace(context);
    return {};
  },
};

/** A version was deployed on the new collection once, and an instance may still run: its writes exist nowhere else. */
async function isWrittenTo(context: StepContext): Promise<boolean> {
  const { services, run } = context;
  const { sourceCollection: active, targetCollection: standby } = run.plan;
  const isKept = run.served.some(
    ({ collection, until }) => collection === standby && until > services.clock().getTime(),
  );
  if (!run.base || isKept) return false;
  const there = await services.vectors.listCollections();
  if (![active, standby].every((name) => there.includes(name))) return false;
  const { written } = await countChanges(context, { active, standby, base: 'continued' });
  return written > 0;
}
