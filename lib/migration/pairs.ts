// Reads two sources of memories side by side, in order of id, to find memories that only one source has.
import { comparePointIds, readUser } from './points.ts';
import type { PointId, PointParts, ScrolledPoint, ScrollRequest } from './ports/vector-store.ts';
import { type CollectionPlace, readPages } from './scan.ts';

/** A memory as each of two sources has it; at least one side is defined. */
export interface Pair<Active, Standby> {
  readonly id: PointId;
  readonly active: Active | undefined;
  readonly standby: Standby | undefined;
}

export type PointPair = Pair<ScrolledPoint, ScrolledPoint>;

export interface Sorted {
  readonly id: PointId;
}

export async function* mergeById<Active extends Sorted, Standby extends Sorted>(
  activeMemories: AsyncIterator<Active, undefined>,
  standbyMemories: AsyncIterator<Standby, undefined>,
): AsyncGenerator<Pair<Active, Standby>, void, void> {
  let active = (await activeMemories.next()).value;
  let standby = (await standbyMemories.next()).value;
  for (;;) {
    const comparison = compareOrder(active, standby);
    const id = (comparison > 0 ? standby : active)?.id;
    if (id === undefined) return;
    yield {
      id,
      active: comparison <= 0 ? active : undefined,
      standby: comparison >= 0 ? standby : undefined,
    };
    if (comparison <= 0) active = (await activeMemories.next()).value;
    if (comparison >= 0) standby = (await standbyMemories.next()).value;
  }
}

/** @returns a negative number if only the active source has the next memory; a positive one if only the standby source has it */
function compareOrder(active: Sorted | undefined, standby: Sorted | undefined): number {
  if (!active || !standby) return active ? -1 : 1;
  return comparePointIds(active.id, standby.id);
}

/** @param excludedUser the test user of the run, whose points are left out */
export async function* readPoints(
  place: CollectionPlace,
  scrollRequest: ScrollRequest,
  excludedUser?: string,
): AsyncGenerator<ScrolledPoint, undefined, void> {
  for await (const { points } of readPages(place, scrollRequest)) {
    for (const point of points) {
      if (excludedUser === undefined || readUser(point.payload) !== excludedUser) yield point;
    }
  }
}

export async function fetchById(
  { store, collection }: CollectionPlace,
  requested: readonly { readonly id: PointId }[],
  parts?: PointParts,
): Promise<ReadonlyMap<PointId, ScrolledPoint>> {
  if (requested.length === 0) return new Map();
  const ids = requested.map(({ id }) => id);
  const points = await store.retrieve(collection, ids, parts);
  return new Map(points.map((point) => [point.id, point]));
}
