// Digests of points and of sets of them, which do not depend on the order of either.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../json/lossless-json.ts';
import type { PointId, PointPayload } from '../ports/vector-store.ts';

const MODULUS = 2n ** 256n;

/** The sum of the digests of a set's points: 64 hexadecimal digits. Plain JSON. */
export type SetDigest = string;

export const EMPTY_SET: SetDigest = '0'.repeat(64);

/** SHA-256 of id and canonical payload. */
export function digestOf(id: PointId, payload: PointPayload): string {
  return createHash('sha256')
    .update(`${id}|${canonicalJson(payload)}`)
    .digest('hex');
}

/** A sum, not an exclusive or: a point that is there twice does not cancel itself out. */
export function withDigest(set: SetDigest, digest: string): SetDigest {
  const sum = (BigInt(`0x${set}`) + BigInt(`0x${digest}`)) % MODULUS;
  return sum.toString(16).padStart(64, '0');
}

/** Equal texts need no parsing. */
export function samePayload(one: PointPayload, other: PointPayload): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other);
}
