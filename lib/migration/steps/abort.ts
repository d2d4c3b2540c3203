// Aborts a run before its window, and removes the collections that the run built. The run's artifacts, and collections that users
// worked on, are kept for a retention period; then the watch removes them.
import type { StepInput } from '../runs/input.ts';
import { phaseSince, type Run } from '../runs/run.ts';
import type { Lease, Retained } from '../runs/run-lock.ts';
import { builtCollectionsOf, liveCollectionsOf, withCompanion } from '../runs/run-names.ts';
import type { Step, StepRequest } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { listOwnCollections, removeCollections, removeOwnCollections } from './clean-up.ts';
import { compare, haveSameMemories } from './comparison.ts';
import { undoInPlace } from './in-place.ts';
import { activeLacksMost, removeKept } from './last-copies.ts';

export const abort: Step = {
  command: 'abort',
  forecast: async (request) => {
    const { removes, keeps } = await decideRemovals(request);
    return { removes, ...(keeps.length > 0 && { keeps }) };
  },
  work: async (context) => {
    const { run, updateRun } = context;
    const { keeps } = await decideRemovals(context);
    // Recorded before the removal, so that an abort that is repeated after a kill keeps the same collections.
    if (keeps.length > 0) await updateRun({ kept: [...new Set([...run.kept, ...keeps])] });
    await removeOwnCollections(context, { except: keeps.flatMap(withCompanion) });
    await undoInPlace(context);
    return {};
  },
};

/** Decides which of the run's collections to remove. Those that may hold the only copy of a memory are kept. */
async function decideRemovals(request: StepRequest) {
  const ownCollections = listOwnCollections(request);
  const filledCollections = await listFilledCollections(request, ownCollections);
  const mayHoldLastCopies = filledCollections.length > 0 && (await activeLacksMost(request));
  const lastCopies = mayHoldLastCopies
    ? filledCollections
    : await listLateWrittenCollections(request);
  const keeps = ownCollections.filter(
    (name) => lastCopies.includes(name) || request.run.kept.includes(name),
  );
  const keptCollections = keeps.flatMap(withCompanion);
  return { removes: ownCollections.filter((name) => !keptCollections.includes(name)), keeps };
}

/** Lists the collections that have points, except companions, which hold no memories. */
async function listFilledCollections(
  { services: { vectors }, run }: StepRequest,
  ownCollections: readonly string[],
): Promise<string[]> {
  const companions = [builtCollectionsOf(run)[1], liveCollectionsOf(run)[1]];
  const filledCollections: string[] = [];
  for (const name of ownCollections) {
    if (companions.includes(name) || !(await vectors.collectionExists(name))) continue;
    if ((await vectors.count(name)) > 0) filledCollections.push(name);
  }
  return filledCollections;
}

/** Lists the new collection if it has late writes: after an earlier window, a backend instance may still write to it. */
async function listLateWrittenCollections(request: StepRequest): Promise<string[]> {
  const { services, run } = request;
  const { sourceCollection: active, targetCollection: standby } = run.plan;
  if (!run.base || !listOwnCollections(request).includes(standby)) return [];
  const existingCollections = await services.vectors.listCollections();
  if (![active, standby].every((name) => existingCollections.includes(name))) return [];
  const { late } = await compare(request, { active, standby, base: run.base });
  return late.written > 0 ? [standby] : [];
}

/**
 * Removes what an aborted run has left. A collection that users worked on is removed when its retention period ends; backups and
 * reports are removed when every such period, and the run's own, has ended. Takes the lock only if a removal is due.
 * @param deletes number of memories that users deleted, according to the operator
 * @throws Refusal if the active collection seems to have been emptied
 */
export async function removeAborted(
  services: Services,
  run: Run,
  { deletes }: Pick<StepInput, 'deletes'> = {},
): Promise<void> {
  const { runs, lock, artifacts, clock } = services;
  const now = clock().getTime();
  const expired = run.served.filter(({ until }) => until <= now);
  const isRetentionOver = computeRetentionEnd(run) <= now;
  if (expired.length === 0 && !isRetentionOver) return;
  if (!(await lock.retainedRuns()).includes(run.runId)) return;
  const lease = await lock.take(run.runId);
  let retained: Retained | 'ended' = 'left';
  try {
    await removeKept({ services, run, deletes, removesMemories: true }, async () => {
      const remainingRun =
        expired.length > 0
          ? await removeExpiredCollections({ services, run, lease }, expired)
          : run;
      if (!isRetentionOver) return;
      // First the record drops the base, so that after a kill nothing reads the base's half-deleted artifacts.
      await runs.write(lease, { ...remainingRun, base: undefined });
      await artifacts.deleteAll(`${run.runId}/`);
      retained = 'ended';
    });
  } finally {
    await lock.release(lease, retained);
  }
}

function computeRetentionEnd(run: Run): number {
  const runRetentionEnd = phaseSince(run) + run.plan.retentionDays * DAY_MS;
  return Math.max(runRetentionEnd, ...run.served.map(({ until }) => until));
}

/** Keeps the new collection, and records it as kept, if it has changed since users left it. @returns the changed record */
async function removeExpiredCollections(
  { services, run, lease }: { services: Services; run: Run; lease: Lease },
  expired: Run['served'],
): Promise<Run> {
  const { lock, runs, vectors, setting } = services;
  const collections = expired.map(({ collection }) => collection);
  const [live, companion] = liveCollectionsOf(run);
  const liveExists = collections.includes(live) && (await vectors.collectionExists(live));
  const isInUse = (await setting.read()) === live;
  const hasChanged =
    liveExists &&
    !isInUse &&
    !(await haveSameMemories({ services, run }, live, { base: run.base }));
  const except = hasChanged ? [live, companion] : [];
  await removeCollections({ services, run, renewLease: () => lock.renew(lease) }, collections, {
    except,
  });
  const changedRun = {
    ...run,
    kept: [...run.kept, ...(hasChanged ? [live] : [])],
    served: run.served.filter((entry) => !expired.includes(entry)),
  };
  await runs.write(lease, changedRun);
  return changedRun;
}
