// Removes the remains of an aborted run: each collection that users once worked on, when its retention period ends; backups and
// reports when the last of these periods, and that of the run, has ended.
import type { StepInput } from '../runs/input.ts';
import { phaseAtOf, type Run } from '../runs/run.ts';
import type { Lease, Retained } from '../runs/run-lock.ts';
import { liveCollectionsOf } from '../runs/run-names.ts';
import { DAY_MS } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeCollections } from './clean-up.ts';
import { haveSame } from './comparison.ts';
import { removeKept } from './last-copies.ts';

/**
 * Takes the lock only if something is due.
 * @param deletes number of memories that users deleted, as the operator says
 * @throws Refusal if the collection in use seems to have been emptied
 */
export async function removeAborted(
  services: Services,
  run: Run,
  { deletes }: Pick<StepInput, 'deletes'> = {},
): Promise<void> {
  const { runs, lock, artifacts, clock } = services;
  const now = clock().getTime();
  const over = run.served.filter(({ until }) => until <= now);
  const isOver = computeRetention(run) <= now;
  if (over.length === 0 && !isOver) return;
  if (!(await lock.retainedRuns()).includes(run.runId)) return;
  const lease = await lock.take(run.runId);
  let retained: Retained | 'ended' = 'left';
  try {
    await removeKept({ services, run, deletes, removesMemories: true }, async () => {
      const left = over.length > 0 ? await removeServed({ services, run, lease }, over) : run;
      if (!isOver) return;
      // Forgotten before it is deleted: after a kill in between, the next attempt must not read it.
      await runs.write(lease, { ...left, base: undefined });
      await artifacts.deleteAll(`${run.runId}/`);
      retained = 'ended';
    });
  } finally {
    await lock.release(lease, retained);
  }
}

function computeRetention(run: Run): number {
  const end = phaseAtOf(run) + run.plan.retentionDays * DAY_MS;
  return Math.max(end, ...run.served.map(({ until }) => until));
}

/** A collection that was written to since is kept, and recorded. @returns the record */
async function removeServed(
  { services, run, lease }: { services: Services; run: Run; lease: Lease },
  served: Run['served'],
): Promise<Run> {
  const { lock, runs, vectors, setting } = services;
  const over = served.map(({ collection }) => collection);
  const [live, companion] = liveCollectionsOf(run);
  const exists = over.includes(live) && (await vectors.collectionExists(live));
  const isInUse = (await setting.read()) === live;
  const isChanged =
    exists && !isInUse && !(await haveSame({ services, run }, live, { base: run.base }));
  const except = isChanged ? [live, companion] : [];
  await removeCollections({ services, run, renew: () => lock.renew(lease) }, over, { except });
  const left = {
    ...run,
    kept: [...run.kept, ...(isChanged ? [live] : [])],
    served: run.served.filter((one) => !served.includes(one)),
  };
  await runs.write(lease, left);
  return left;
}
