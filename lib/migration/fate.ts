// Decides which of two versions of a memory prevails: a three-way merge whose base is the last common version. Every comparison
// of two memories, or of the contents of two collections, is made here.
import { canonicalJson } from './json/json-text.ts';
import { digestOf } from './points.ts';
import type { PointId, PointPayload } from './ports/vector-store.ts';

/** A memory in one collection; undefined if the collection lacks it */
export type Version = { readonly id: PointId; readonly payload: PointPayload } | undefined;

/**
 * A memory when both collections were last equal: its digest, or `absent` from both. unknown: it was never compared.
 * inserting: absent from both, but a killed walk may have inserted it since.
 */
export type CommonVersion = Buffer | 'absent' | 'inserting' | 'unknown';

/**
 * forward: the active collection's version is copied to the standby one. backward: only the standby collection's version has
 * changed, and is copied to the active one. conflict: both have changed; the active one's prevails, and the report has both.
 */
export type Fate = 'same' | 'forward' | 'backward' | 'conflict';

export function decideFate(active: Version, standby: Version, base: CommonVersion): Fate {
  if (isSame(active, standby)) return 'same';
  if (base === 'unknown' || isUnchanged(standby, base)) return 'forward';
  // A user may have deleted what the killed walk inserted: it must not come back.
  return isUnchanged(active, base) && base !== 'inserting' ? 'backward' : 'conflict';
}

/** True if both are the same memory. Its vectors follow from it, and are compared when they are copied. */
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

/** Sum of the digests of all memories, from a walk, a report or the last common version */
interface Contents {
  readonly digest?: unknown;
}

/** True if both collections hold the same memories; false if either sum is unknown. */
export function holdSame(one: Contents, other: Contents): boolean {
  return one.digest !== undefined && one.digest === other.digest;
}
