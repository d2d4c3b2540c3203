// Carries over what was written to the old collection after the last look at it: a request that outlasted the freeze.
// Users are on the new version by then, so only what the late writes changed is changed, and nothing that a user has
// changed since: the backup says what was there before both.
import { createPointWriter } from '../point-writer.ts';
import { samePayload, userOf, VECTOR_TOLERANCE, vectorDifference } from '../points.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { readManifest } from '../proof/backup-manifest.ts';
import { pairedPoints } from '../reconcile.ts';
import type { Run } from '../runs/run.ts';
import { drillCollectionOf, liveCollectionOf } from '../runs/run-names.ts';
import type { Turn } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { reconcileSettings, verifiedFingerprint } from './copy-step.ts';
import { scanCollection } from './recorded-counts.ts';
import { restoreSnapshot } from './restore-snapshot.ts';

/** Figures for the record. */
export type LateWrites = {
  readonly lateWrites: number;
  /** Late writes to memories that a user has changed since: they stay in the old collection. */
  readonly lateWritesOverruled: number;
};

const NONE: LateWrites = { lateWrites: 0, lateWritesOverruled: 0 };

export async function carryOverLateWrites(turn: Turn): Promise<LateWrites> {
  const { services, run, renew } = turn;
  if (!(await wasWrittenTo(services, run))) return NONE;
  const base = drillCollectionOf(run);
  await renew();
  await services.vectors.deleteCollection(base);
  try {
    await restoreSnapshot(turn, { name: base, kept: await readManifest(services, run) });
    return await carryOver(turn, base);
  } finally {
    await renew();
    await services.vectors.deleteCollection(base);
  }
}

/** Whether the old collection is another than it was when both were compared; false where it is gone. */
export async function wasWrittenTo(services: Services, run: Run): Promise<boolean> {
  const { sourceCollection } = run.plan;
  if (!(await services.vectors.collectionExists(sourceCollection))) return false;
  const { contents } = await scanCollection(services, run, sourceCollection);
  return contents.digest !== verifiedFingerprint(run);
}

async function carryOver(turn: Turn, base: string): Promise<LateWrites> {
  const { services, run, renew } = turn;
  const { vectors: store } = services;
  const settings = await reconcileSettings(turn, 'repair');
  const to = { store, collection: liveCollectionOf(run) };
  const writer = createPointWriter({ ...settings, to, renew });
  const request = { limit: settings.pageSize };
  const before = { store, collection: base, request };
  const after = { store, collection: run.plan.sourceCollection, request };
  let found = NONE;
  for await (const { id, from: was, to: is } of pairedPoints(before, after)) {
    if (isSame(was, is) || (is && userOf(is.payload) === testUserOf(run.runId))) continue;
    const [now] = await store.retrieve(to.collection, [id]);
    const isOverruled = !isSame(was, now, 'payload');
    found = {
      lateWrites: found.lateWrites + 1,
      lateWritesOverruled: found.lateWritesOverruled + (isOverruled ? 1 : 0),
    };
    if (!isOverruled) await apply(writer, id, { was, is });
  }
  return found;
}

async function apply(
  { insert, replace, remove }: ReturnType<typeof createPointWriter>,
  id: PointId,
  { was, is }: { was: ScrolledPoint | undefined; is: ScrolledPoint | undefined },
): Promise<void> {
  if (!is) await remove([id]);
  else if (was) await replace([is]);
  else await insert([is]);
}

function isSame(
  one: ScrolledPoint | undefined,
  other: ScrolledPoint | undefined,
  compared: 'payload' | 'all' = 'all',
): boolean {
  if (!one || !other) return one === other;
  if (!samePayload(one.payload, other.payload)) return false;
  return compared === 'payload' || vectorDifference(one.vector, other.vector) <= VECTOR_TOLERANCE;
}
