// Reads two collections side by side in order of id, so that a point that only one of them has shows at once.
import { comparePointIds } from './points.ts';
import type { PointId, PointParts, ScrolledPoint, ScrollRequest } from './ports/vector-store.ts';
import { type CollectionPlace, readPages } from './scan.ts';

/** One point in both collections; at least one of them has it. */
export interface PointPair {
  readonly id: PointId;
  readonly from: ScrolledPoint | undefined;
  readonly to: ScrolledPoint | undefined;
}

interface Side extends CollectionPlace {
  readonly request: ScrollRequest;
}

export async function* readPairs(from: Side, to: Side): AsyncGenerator<PointPair, void, void> {
  const left = readPoints(from);
  const right = readPoints(to);
  let { value: ours } = await left.next();
  let { value: theirs } = await right.next();
  for (;;) {
    const order = compareOrder(ours, theirs);
    const id = (order > 0 ? theirs : ours)?.id;
    if (id === undefined) return;
    yield { id, from: order <= 0 ? ours : undefined, to: order >= 0 ? theirs : undefined };
    if (order <= 0) ours = (await left.next()).value;
    if (order >= 0) theirs = (await right.next()).value;
  }
}

async function* readPoints({ request, ...place }: Side): AsyncGenerator<ScrolledPoint, undefined> {
  for await (const { points } of readPages(place, request)) yield* points;
}

/** Negative if only the first collection has the next point, positive if only the second has it */
function compareOrder(ours: ScrolledPoint | undefined, theirs: ScrolledPoint | undefined): number {
  if (!ours || !theirs) return ours ? -1 : 1;
  return comparePointIds(ours.id, theirs.id);
}

export async function fetchById(
  { store, collection }: CollectionPlace,
  wanted: readonly { readonly id: PointId }[],
  parts?: PointParts,
): Promise<ReadonlyMap<PointId, ScrolledPoint>> {
  if (wanted.length === 0) return new Map();
  const ids = wanted.map(({ id }) => id);
  const points = await store.retrieve(collection, ids, parts);
  return new Map(points.map((point) => [point.id, point]));
}
