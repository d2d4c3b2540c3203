// Walks two collections side by side in order of id, in constant memory: what is on one side only shows at once.

import type { PointId, ScrolledPoint, ScrollRequest } from '../ports/vector-store.ts';
import { type CollectionPlace, pagesOf } from './collection-pages.ts';
import { comparePointIds } from './point-order.ts';

/** At least one side is there. */
export interface PointPair {
  readonly id: PointId;
  readonly source: ScrolledPoint | undefined;
  readonly target: ScrolledPoint | undefined;
}

export interface Side extends CollectionPlace {
  readonly request: ScrollRequest;
}

export async function* pairedPoints(source: Side, target: Side): AsyncGenerator<PointPair> {
  const left = createCursor(source);
  const right = createCursor(target);
  for (;;) {
    const ours = left.peek() ?? (await left.fill());
    const theirs = right.peek() ?? (await right.fill());
    const order = orderOf(ours, theirs);
    const id = (order > 0 ? theirs : ours)?.id;
    if (id === undefined) return;
    yield {
      id,
      source: order <= 0 ? left.take() : undefined,
      target: order >= 0 ? right.take() : undefined,
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

  const peek = () => points[at];

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

  return { peek, fill, take };
}
