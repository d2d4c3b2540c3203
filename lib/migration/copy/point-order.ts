// The order of a scroll: integer ids by size, then UUIDs.
import type { PointId } from '../ports/vector-store.ts';

/** Below, at or above zero, as for a sort. */
export function comparePointIds(one: PointId, other: PointId): number {
  const isUuid = one.startsWith('"');
  if (isUuid !== other.startsWith('"')) return isUuid ? 1 : -1;
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
