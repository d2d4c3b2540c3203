// Decides whether two sides hold the same, and which of two versions of a memory is right: a three-way merge whose base is the
// last common version. Every comparison of two memories, or of the memories of two collections, is here.
import { canonicalJson } from './json/json-text.ts';
import { digestOf } from './points.ts';
import type { PointId, PointPayload } from './ports/vector-store.ts';

/** A memory in one collection; undefined where that one has none */
export type Version = { readonly id: PointId; readonly payload: PointPayload } | undefined;

/**
 * A memory when both collections were last equal: its digest, or that neither had it. `unknown`: they were never compared
 * there. `inserting`: neither had it, and a killed walk may have inserted it since, in either.
 */
export type CommonVersion = Buffer | 'absent' | 'inserting' | 'unknown';

/**
 * forward: the standby collection takes the active one's version. backward: the active collection takes the standby one's,
 * which alone has changed. conflict: both have changed; the active one's is kept, and the report has both.
 */
export type Fate = 'same' | 'forward' | 'backward' | 'conflict';

export function decideFate(active: Version, standby: Version, base: CommonVersion): Fate {
  if (isSame(active, standby)) return 'same';
  if (base === 'unknown' || isUnchanged(standby, base)) return 'forward';
  // A user may have deleted what the killed walk inserted: it must not come back.
  return isUnchanged(active, base) && base !== 'inserting' ? 'backward' : 'conflict';
}

/** True if both are the same memory; its vectors follow from it and are compared where they are copied. */
export function isSame(one: Version, other: Version): boolean {
  if (!one || !other) return one === other;
  // Equal texts need no parsing.
  return (
    one.payload === other.payload || canonicalJson(one.payload) === canonicalJson(other.payload)
  );
}

/** True if the memory has not changed since both collections were equal. */
export function isUnchanged(version: Version, base: CommonVersion): boolean {
  if (typeof base === 'string') return base !== 'unknown' && version === undefined;
  return version !== undefined && base.equals(digestOf(version.id, version.payload));
}

/** The contents of a collection: the sum of the digests of its memories, from a walk, a report or the last common version */
interface Contents {
  readonly digest?: unknown;
}

/** True if both collections hold the same memories. What was never summed up is equal to nothing. */
export function holdSame(one: Contents, other: Contents): boolean {
  return one.digest !== undefined && one.digest === other.digest;
}
