// Removes the remains of an aborted run: each collection that users once worked on, when its retention period ends; backups and
// reports when the last of these periods, and that of the run, has ended.
import { phaseAtOf, type Run } from '../runs/run.ts';
import type { Lease, Retained } from '../runs/run-lock.ts';
import { liveCollectionsOf } from '../runs/run-names.ts';
import { DAY_MS } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeCollections } from './clean-up.ts';
import { isAsBase } from './equality.ts';

/** Takes the lock only if something is due. */
export async function removeAborted(services: Services, run: Run): Promise<void> {
  const { lock, artifacts, clock } = services;
  const now = clock().getTime();
  const over = run.served.filter(({ until }) => until <= now);
  const isOver = computeRetention(run) <= now;
  if (over.length === 0 && !isOver) return;
  const lease = await lock.take(run.runId);
  let retained: Retained | 'ended' = 'left';
  try {
    if (over.length > 0) await removeServed({ services, run, lease }, over);
    if (!isOver) return;
    await lock.renew(lease);
    await artifacts.deleteAll(`${run.runId}/`);
    retained = 'ended';
  } finally {
    await lock.release(lease, retained);
  }
}

function computeRetention(run: Run): number {
  const end = phaseAtOf(run) + run.plan.retentionDays * DAY_MS;
  return Math.max(end, ...run.served.map(({ until }) => until));
}

/** A collection that was written to since is kept, and recorded. */
async function removeServed(
  { services, run, lease }: { services: Services; run: Run; lease: Lease },
  served: Run['served'],
): Promise<void> {
  const { lock, runs, vectors, setting } = services;
  const over = served.map(({ collection }) => collection);
  const [live, companion] = liveCollectionsOf(run);
  const exists = over.includes(live) && (await vectors.collectionExists(live));
  const isInUse = (await setting.read()) === live;
  const isChanged = exists && !isInUse && !(await isAsBase(services, run, live));
  const except = isChanged ? [live, companion] : [];
  await removeCollections({ services, run, renew: () => lock.renew(lease) }, over, { except });
  await runs.write(lease, {
    ...run,
    kept: [...run.kept, ...(isChanged ? [live] : [])],
    served: run.served.filter((one) => !served.includes(one)),
  });
}
