// What users would lose by going back to a restored snapshot: everything that other collections hold and it does not, or
// holds otherwise, and what users have deleted. Exported, so that it can be replayed.
import { samePayload, userOf } from '../points.ts';
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

/** By the recorded counts alone: before the snapshot is restored, a payload that has changed cannot be seen. */
export async function countLeastLost(services: Services, run: Run): Promise<number> {
  const live = await scanCollection(services, run, liveCollectionOf(run));
  return (await compareCounts(services, run, live)).points;
}

export async function countLostWrites(services: Services, run: Run, old: string): Promise<number> {
  let lost = 0;
  for await (const _ of lostWrites(services, run, old)) lost += 1;
  return lost;
}

/** One JSON line for each, in the store's own text. */
export async function exportLostWrites(
  services: Services,
  run: Run,
  { old, key }: { readonly old: string; readonly key: string },
): Promise<Loss> {
  let lost = 0;

  async function* lines() {
    for await (const write of lostWrites(services, run, old)) {
      lost += 1;
      yield lineOf(write);
    }
  }

  await services.artifacts.put(key, lines());
  if (lost > 0) return { lost, exportedTo: key };
  await services.artifacts.delete(key);
  return { lost };
}

function lineOf({ id, point }: LostWrite): Uint8Array {
  const line = point
    ? `{"id":${id},"vector":${point.vector ?? 'null'},"payload":${point.payload}}`
    : `{"id":${id},"deleted":true}`;
  return Buffer.from(`${line}\n`);
}

async function* lostWrites(services: Services, run: Run, old: string): AsyncGenerator<LostWrite> {
  const { openedAt, plan } = run;
  const live = liveCollectionOf(run);
  // Before users were let in no version may have been pointed at it: an upload may have died half-way there.
  if (openedAt !== undefined || (await services.setting.read()) === live) {
    // What is missing was deleted by a user only once users could: before that it is the copy that is damaged.
    const deletes = openedAt !== undefined;
    yield* writesTo(services, run, { collection: live, old, deletes });
  }
  if (old === plan.sourceCollection) return;
  yield* writesTo(services, run, { collection: plan.sourceCollection, old, deletes: false });
}

async function* writesTo(
  { vectors: store }: Services,
  { runId }: Run,
  compared: { readonly collection: string; readonly old: string; readonly deletes: boolean },
): AsyncGenerator<LostWrite> {
  const { collection, old, deletes } = compared;
  if (!(await store.collectionExists(collection))) return;
  const request = { limit: PAGE };
  const pairs = pairedPoints(
    { store, collection: old, request: { ...request, vector: false } },
    { store, collection, request },
  );
  for await (const { id, from, to } of pairs) {
    if (to && userOf(to.payload) === testUserOf(runId)) continue;
    const isSame = from && to && samePayload(from.payload, to.payload);
    if (to ? !isSame : deletes) yield { id, point: to };
  }
}
