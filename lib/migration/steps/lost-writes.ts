// What users would lose by going back: whatever the new collection has that the one gone back to has not, or has otherwise;
// and what was written to an old collection that is not gone back to.

import { userIdOf } from '../json/memory-payload.ts';
import { samePayload } from '../points.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { pairedPoints } from '../reconcile.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { compareCounts, scanCollection } from './recorded-counts.ts';

const PAGE = 256;

/** How many writes, deletions among them, and the artifact that holds them; none without any. */
export interface Loss {
  readonly lost: number;
  readonly exportedTo?: string | undefined;
}

interface LostWrite {
  readonly id: PointId;
  /** As it is now; undefined when it was deleted. */
  readonly point: ScrolledPoint | undefined;
}

export async function countLostWrites(services: Services, run: Run, old: string): Promise<number> {
  let lost = 0;
  for await (const _ of lostWrites(services, run, old)) lost += 1;
  return lost;
}

/** What the recorded counts alone tell of them: without the old collection, a payload that has changed does not show. */
export async function countLeastLost(services: Services, run: Run): Promise<number> {
  const live = await scanCollection(services, run, liveCollectionOf(run));
  return (await compareCounts(services, run, live)).points;
}

/** Exports them: one JSON line for each, in the store's own text. */
export async function exportLostWrites(
  services: Services,
  run: Run,
  { old, key }: { readonly old: string; readonly key: string },
): Promise<Loss> {
  const writes = lostWrites(services, run, old);
  const first = await writes.next();
  if (first.done) return { lost: 0 };
  let lost = 0;

  async function* lines(found: LostWrite) {
    yield lineOf(found);
    lost += 1;
    for await (const write of writes) {
      yield lineOf(write);
      lost += 1;
    }
  }

  await services.artifacts.put(key, lines(first.value));
  return { lost, exportedTo: key };
}

function lineOf({ id, point }: LostWrite): Uint8Array {
  const line = point
    ? `{"id":${id},"vector":${point.vector ?? 'null'},"payload":${point.payload}}`
    : `{"id":${id},"deleted":true}`;
  return Buffer.from(`${line}\n`);
}

async function* lostWrites(
  services: Services,
  run: Run,
  old: string,
): AsyncGenerator<LostWrite, void, void> {
  const { openedAt, plan } = run;
  const live = liveCollectionOf(run);
  // Before users were let in no version may have been pointed at it: an upload may have died half-way there.
  if (openedAt !== undefined || (await services.setting.read()) === live) {
    // What is missing was deleted by a user only once users could: before that it is the copy that is damaged.
    const deletes = openedAt !== undefined;
    yield* writesTo(services, run, { collection: live, old, deletes });
  }
  const { sourceCollection } = plan;
  if (old === sourceCollection) return;
  yield* writesTo(services, run, { collection: sourceCollection, old, deletes: false });
}

/** What a collection holds that the old one does not, the test user's memories aside; and what it does not hold any more. */
export async function* writesTo(
  { vectors: store }: Services,
  { runId }: Run,
  compared: { readonly collection: string; readonly old: string; readonly deletes: boolean },
): AsyncGenerator<LostWrite, void, void> {
  const { collection, old, deletes } = compared;
  if (!(await store.collectionExists(collection))) return;
  const request = { limit: PAGE };
  const pairs = pairedPoints(
    { store, collection: old, request: { ...request, vector: false } },
    { store, collection, request },
  );
  const own = JSON.stringify(testUserOf(runId));
  for await (const { id, from, to } of pairs) {
    if (to && userIdOf(to.payload) === own) continue;
    const isSame = from && to && samePayload(from.payload, to.payload);
    if (to ? !isSame : deletes) yield { id, point: to };
  }
}
