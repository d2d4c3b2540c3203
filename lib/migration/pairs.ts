// Reads two sources of memories side by side, in order of id, to find those that only one of them has.
import { comparePointIds, readUser } from './points.ts';
import type { PointId, PointParts, ScrolledPoint, ScrollRequest } from './ports/vector-store.ts';
import { type CollectionPlace, readPages } from './scan.ts';

/** One memory in two sources; at least one of them has it. */
export interface Pair<From, To> {
  readonly id: PointId;
  readonly active: From | undefined;
  readonly standby: To | undefined;
}

export type PointPair = Pair<ScrolledPoint, ScrolledPoint>;

export interface Sorted {
  readonly id: PointId;
}

export async function* mergeById<From extends Sorted, To extends Sorted>(
  first: AsyncIterator<From, undefined>,
  second: AsyncIterator<To, undefined>,
): AsyncGenerator<Pair<From, To>, void, void> {
  let ours = (await first.next()).value;
  let theirs = (await second.next()).value;
  for (;;) {
    const order = compareOrder(ours, theirs);
    const id = (order > 0 ? theirs : ours)?.id;
    if (id === undefined) return;
    yield {
      id,
      active: order <= 0 ? ours : undefined,
      standby: order >= 0 ? theirs : undefined,
    };
    if (order <= 0) ours = (await first.next()).value;
    if (order >= 0) theirs = (await second.next()).value;
  }
}

/** Returns a negative number if only the first source has the next memory, a positive one if only the second has it. */
function compareOrder(ours: Sorted | undefined, theirs: Sorted | undefined): number {
  if (!ours || !theirs) return ours ? -1 : 1;
  return comparePointIds(ours.id, theirs.id);
}

/** @param excludedUser the test user of the run, whose points are left out */
export async function* readPoints(
  place: CollectionPlace,
  request: ScrollRequest,
  excludedUser?: string,
): AsyncGenerator<ScrolledPoint, undefined, void> {
  for await (const { points } of readPages(place, request)) {
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
