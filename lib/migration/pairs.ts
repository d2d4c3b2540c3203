// Two collections side by side, in order of id: a point that only one of them has shows at once.
import { comparePointIds } from './points.ts';
import type { PointId, PointParts, ScrolledPoint, ScrollRequest } from './ports/vector-store.ts';
import { type CollectionPlace, pagesOf } from './scan.ts';

/** At least one side is there. */
export interface PointPair {
  readonly id: PointId;
  readonly from: ScrolledPoint | undefined;
  readonly to: ScrolledPoint | undefined;
  /** Digest of what both had. */
  readonly was?: Buffer | undefined;
}

interface Side extends CollectionPlace {
  readonly request: ScrollRequest;
}

export async function* pairedPoints(from: Side, to: Side): AsyncGenerator<PointPair, void, void> {
  const left = createCursor(from);
  const right = createCursor(to);
  for (;;) {
    const ours = left.peek() ?? (await left.fill());
    const theirs = right.peek() ?? (await right.fill());
    const order = orderOf(ours, theirs);
    const id = (order > 0 ? theirs : ours)?.id;
    if (id === undefined) return;
    yield {
      id,
      from: order <= 0 ? left.take() : undefined,
      to: order >= 0 ? right.take() : undefined,
    };
  }
}

function orderOf(ours: ScrolledPoint | undefined, theirs: ScrolledPoint | undefined): number {
  if (!ours || !theirs) return ours ? -1 : 1;
  return comparePointIds(ours.id, theirs.id);
}

function createCursor({ request, ...place }: Side) {
  const pages = pagesOf(place, request);
  let points: readonly ScrolledPoint[] = [];
  let at = 0;

  async function fill(): Promise<ScrolledPoint | undefined> {
    while (at >= points.length) {
      const { done, value } = await pages.next();
      if (done) return undefined;
      points = value.points;
      at = 0;
    }
    return points[at];
  }

  function take(): ScrolledPoint | undefined {
    at += 1;
    return points[at - 1];
  }

  return { peek: () => points[at], fill, take };
}

export async function pointsById(
  { store, collection }: CollectionPlace,
  wanted: readonly { readonly id: PointId }[],
  parts?: PointParts,
): Promise<ReadonlyMap<PointId, ScrolledPoint>> {
  if (wanted.length === 0) return new Map();
  const ids = wanted.map(({ id }) => id);
  const points = await store.retrieve(collection, ids, parts);
  return new Map(points.map((point) => [point.id, point]));
}
