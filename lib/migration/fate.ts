// Decides which of two versions of a memory prevails: a three-way merge whose base is the last common version. Whole collections
// are compared in steps/comparison.ts.
import { canonicalizeJson } from './json/json-text.ts';
import { digestPoint, isSameVector, lacksKeywords } from './points.ts';
import type { PointId, PointPayload, ScrolledPoint } from './ports/vector-store.ts';

/** One collection's version of a memory, with the payload or only its digest; undefined if the collection lacks the memory */
export type Version = (Memory & { readonly payload: PointPayload }) | ListedMemory | undefined;

interface Memory {
  readonly id: PointId;
}

export interface ListedMemory extends Memory {
  readonly digest: Buffer;
}

/**
 * A memory when both collections were last equal: its digest, or one of three words. absent: neither collection had the memory.
 * inserting: neither had it, but a killed walk may have inserted it since. unknown: it was never compared.
 */
export type CommonVersion = Buffer | 'absent' | 'inserting' | 'unknown';

/**
 * forward: the active collection's version is copied to the standby one. backward: only the standby collection's version has
 * changed, and is copied to the active one. conflict: both versions have changed; the active one prevails, and both are reported.
 */
export type Fate = 'same' | 'forward' | 'backward' | 'conflict';

export function decideFate(active: Version, standby: Version, base: CommonVersion): Fate {
  if (isSame(active, standby)) return 'same';
  if (base === 'unknown' || isUnchanged(standby, base)) return 'forward';
  // If a user has deleted what the killed walk inserted, the memory must not be inserted again.
  return isUnchanged(active, base) && base !== 'inserting' ? 'backward' : 'conflict';
}

/** True if id and payload are the same. Vectors derive from the payload; they are compared only when memories are copied. */
export function isSame(first: Version, second: Version): boolean {
  if (!first || !second) return first === second;
  if ('digest' in first || 'digest' in second) {
    return digestOfVersion(first).equals(digestOfVersion(second));
  }
  // Equal JSON text needs no parsing.
  return (
    first.payload === second.payload ||
    canonicalizeJson(first.payload) === canonicalizeJson(second.payload)
  );
}

/** How vectors are compared, and who makes keyword vectors */
export interface VectorRules {
  readonly tolerance?: number;
  /** by-store: the store makes keyword vectors, and the standby collection must have them. */
  readonly keywords: string;
}

/** @returns the kind of vector that differs although the memory is the same; undefined if none differs */
export function findVectorDifference(
  active: ScrolledPoint,
  standby: ScrolledPoint,
  { tolerance, keywords }: VectorRules,
): 'vector' | 'keywords' | undefined {
  if (!isSameVector(active.vector, standby.vector, tolerance)) return 'vector';
  return keywords === 'by-store' && lacksKeywords(standby) ? 'keywords' : undefined;
}

export function digestOfVersion(version: NonNullable<Version>): Buffer {
  return 'digest' in version ? version.digest : digestPoint(version.id, version.payload);
}

/** True if the memory has not changed since both collections were equal. */
export function isUnchanged(version: Version, base: CommonVersion): boolean {
  if (typeof base === 'string') return base !== 'unknown' && version === undefined;
  return version !== undefined && base.equals(digestOfVersion(version));
}

/** A walk's result, a report or a base, which may have the digest of a whole collection */
interface WithDigest {
  readonly digest?: unknown;
}

/** True if both digests are known and equal: the collections have the same memories. */
export function haveSameDigest(first: WithDigest, second: WithDigest): boolean {
  return first.digest !== undefined && first.digest === second.digest;
}
