// Ends a run before its window and removes what it built on the store. Its artifacts are kept for the retention period; then the
// watch removes them.
import { builtCollectionsOf } from '../runs/run-names.ts';
import type { Step, StepContext } from '../runs/step.ts';
import { listOwnCollections, removeOwn } from './clean-up.ts';
import { compare } from './comparison.ts';
import { undoInPlace } from './in-place.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async (request) => ({ removes: listOwnCollections(request) }),
  work: async (context) => {
    const { run, note } = context;
    const written = (await isWrittenTo(context)) ? builtCollectionsOf(run) : [];
    // Recorded before the removal: after a kill in between, the next abort keeps the same.
    if (written[0]) await note({ kept: [...new Set([...run.kept, written[0]])] });
    await removeOwn(context, { except: written });
    await undoInPlace(context);
    return {};
  },
};

/** After an earlier window, an instance on the new collection may still run: its writes exist nowhere else. */
async function isWrittenTo(context: StepContext): Promise<boolean> {
  const { services, run } = context;
  const { sourceCollection: active, targetCollection: standby } = run.plan;
  const isKept = run.served.some(
    ({ collection, until }) => collection === standby && until > services.clock().getTime(),
  );
  if (!run.base || isKept) return false;
  const existing = await services.vectors.listCollections();
  if (![active, standby].every((name) => existing.includes(name))) return false;
  const { late } = await compare(context, { active, standby, base: run.base });
  return late.written > 0;
}
