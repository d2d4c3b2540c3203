// Adds or removes slots (named vectors) of the active collection without bringing back points that users have deleted. In Qdrant
// 1.18.3 and 1.19.0, such a change cancels a running optimization, and so undoes every deletion made since the optimization began.
// Switching the optimizer off has the same effect, so it is switched off while the store is idle, and stays off during the change.
// Points that come back anyway are removed afterwards: they are not in the list of ids that was made before the change.
import { waitUntilIdle } from '../configuration.ts';
import { verbatim } from '../json/json-text.ts';
import { readChangeTime } from '../json/memory-payload.ts';
import { MAX_SEARCHED_IDS } from '../point-writer.ts';
import { readUnnamedVector } from '../points.ts';
import { splitLines } from '../ports/artifacts.ts';
import type { Filter, PointId } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import type { StepContext } from '../runs/step.ts';
import { readPages } from '../scan.ts';

type SlotChange = NonNullable<Run['slotChange']>;

/** Ids per page, without payloads or vectors */
const PAGE_SIZE = 10_000;

/**
 * @param change must be idempotent: it is repeated after an interruption
 * @returns the number of deleted points that came back and were removed again
 */
export async function changeSlots(
  context: StepContext,
  collection: string,
  change: () => Promise<void>,
): Promise<number> {
  const { services, renewLease, updateRun } = context;
  await waitUntilIdle(context, collection);
  const slotChange = await recordStateBefore(context, collection);
  // An optimization may have begun meanwhile: no other request may come between this check and switching the optimizer off.
  await renewLease();
  await waitUntilIdle(context, collection);
  await services.vectors.updateCollection(collection, createOptimizerUpdate(0));
  await renewLease();
  await change();
  const removedCount = await removeReturned(context, collection, slotChange);
  await renewLease();
  await services.vectors.updateCollection(
    collection,
    createOptimizerUpdate(slotChange.threads ?? 'auto'),
  );
  await updateRun({ slotChange: undefined });
  return removedCount;
}

// Lists the points, and records how to switch the optimizer on again: after a kill, the next invocation needs both.
async function recordStateBefore(context: StepContext, collection: string): Promise<SlotChange> {
  const { services, run, lease, renewLease, updateRun } = context;
  const { vectors, artifacts, clock } = services;
  const info = await vectors.readCollectionInfo(collection);
  const { max_optimization_threads: current = null } = info?.config.optimizer_config ?? {};
  const interrupted = current === 0 ? run.slotChange : undefined;
  if (interrupted?.listed) return interrupted;
  const threads = interrupted ? interrupted.threads : current;
  // Each shard numbers its own writes: with several shards, the times in the payloads tell which write is older.
  const hasOneShard = (await vectors.listShardStates(collection)).length === 1;
  await renewLease();
  const position = hasOneShard ? await vectors.takeOperationNumber(collection) : null;
  const listedAt = clock().getTime();
  const artifact = `${run.runId}/base-${lease.epoch}-ids.txt`;
  const ids = await listIds(context, collection);
  await artifacts.put(artifact, [Buffer.from(ids.map((id) => `${id}\n`).join(''))]);
  const slotChange = { threads, listed: { artifact, at: listedAt, position, points: ids.length } };
  await updateRun({ slotChange });
  return slotChange;
}

function createOptimizerUpdate(max_optimization_threads: number | 'auto') {
  return { optimizers_config: { max_optimization_threads } };
}

async function listIds({ services }: StepContext, collection: string): Promise<PointId[]> {
  const ids: PointId[] = [];
  const request = { limit: PAGE_SIZE, payload: false, vector: false };
  for await (const { points } of readPages({ store: services.vectors, collection }, request)) {
    for (const { id } of points) ids.push(id);
  }
  return ids;
}

/** Removes points that are not in the list, and were not written since the list was made. */
async function removeReturned(
  context: StepContext,
  collection: string,
  { listed }: SlotChange,
): Promise<number> {
  const { services, renewLease } = context;
  const { vectors, artifacts } = services;
  const listedIds = new Set<string>();
  for await (const id of splitLines(artifacts.get(listed?.artifact ?? ''))) listedIds.add(id);
  if (!listed || listedIds.size !== listed.points) {
    throw new Refusal(
      'RefusedMissingArtifact',
      `The list of the points of ${collection} is damaged.`,
    );
  }
  const currentIds = await listIds(context, collection);
  const newIds = currentIds.filter((id) => !listedIds.has(id));
  let removedCount = 0;
  for (let start = 0; start < newIds.length; start += MAX_SEARCHED_IDS) {
    const batch = newIds.slice(start, start + MAX_SEARCHED_IDS);
    const ids = await findOlder(context, collection, batch, listed);
    if (ids.length === 0) continue;
    await renewLease();
    await vectors.deletePoints(collection, { ids });
    removedCount += ids.length;
  }
  return removedCount;
}

/**
 * Finds points that were last written before the list was made. A search returns the number of a point's last write, unless the
 * point has no vector.
 */
async function findOlder(
  { services: { vectors } }: StepContext,
  collection: string,
  ids: readonly PointId[],
  { position, at: listedAt }: NonNullable<SlotChange['listed']>,
): Promise<PointId[]> {
  const points = await vectors.retrieve(collection, ids);
  const [anyVector] = points.flatMap(({ vector }) => (vector && readUnnamedVector(vector)) ?? []);
  const versions = new Map<PointId, number>();
  if (anyVector && position !== null) {
    const filter = { must: [{ has_id: ids.map((id) => verbatim(id)) }] } as Filter;
    const search = { nearest: { vector: anyVector }, filter, limit: ids.length };
    const { hits } = await vectors.search(collection, search);
    for (const { id, version } of hits) versions.set(id, version);
  }
  const isOlder = (point: (typeof points)[number]) => {
    const version = versions.get(point.id);
    if (version !== undefined && position !== null) return version <= position;
    return readChangeTime(point.payload) < listedAt;
  };
  return points.filter(isOlder).map(({ id }) => id);
}
