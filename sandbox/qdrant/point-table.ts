// The points of one collection, in the order of their ids. A point is only ever replaced, never changed, so a list of points is
// a snapshot.

import type { PayloadBytes } from './payloads.ts';
import type { PointKey } from './point-ids.ts';
import type { Vectors } from './vectors.ts';

export interface StoredPoint extends Vectors {
  readonly key: PointKey;
  readonly payload: PayloadBytes;
  /** Number of the write that stored the point; numbers ascend. */
  readonly version?: number;
}

export type PointTable = ReturnType<typeof createPointTable>;

/** @param stored the initial points, in any order */
export function createPointTable(stored: Iterable<StoredPoint> = []) {
  const points = new Map([...stored].map((point) => [point.key, point]));
  // Sorted only when a scroll needs the order, because thousands of writes may come before the next scroll.
  let sorted: PointKey[] | undefined;
  let writes = points.values().reduce((highest, { version = 0 }) => Math.max(highest, version), 0);

  function put(point: StoredPoint): void {
    if (!points.has(point.key)) sorted = undefined;
    writes += 1;
    points.set(point.key, { ...point, version: writes });
  }

  function remove(key: PointKey): void {
    if (points.delete(key)) sorted = undefined;
  }

  /** Restores a removed point, with its version. */
  function restore(point: StoredPoint): void {
    points.set(point.key, point);
    sorted = undefined;
  }

  function* from(offset: PointKey | undefined): Generator<StoredPoint, void, void> {
    sorted ??= [...points.keys()].sort();
    const keys = sorted;
    for (let index = findFirst(keys, offset); index < keys.length; index += 1) {
      const point = points.get(keys[index] ?? '');
      if (point) yield point;
    }
  }

  return {
    put,
    remove,
    restore,
    /** Assigns the number of an operation: higher than the version of any point. */
    nextOperation: () => {
      writes += 1;
      return writes;
    },
    from,
    get: (key: PointKey) => points.get(key),
    has: (key: PointKey) => points.has(key),
    all: () => points.values(),
    size: () => points.size,
    clear() {
      points.clear();
      sorted = [];
    },
  };
}

function findFirst(keys: readonly PointKey[], offset: PointKey | undefined): number {
  if (offset === undefined) return 0;
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
