// Point ids: unsigned 64-bit integers or UUIDs. Their keys sort in Qdrant's order: integers first.
import { malformed } from './refusal.ts';

/** A string that sorts in the order of a scroll. */
export type PointKey = string;

const INTEGER = /^\d{1,20}$/;
const UUID =
  /^(?:urn:uuid:)?([\da-f]{8})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{4})-?([\da-f]{12})$/i;
const MAX_INTEGER = 2n ** 64n - 1n;

/** Returns the key of an id, given as JSON text. */
export function toPointKey(idText: string): PointKey {
  if (INTEGER.test(idText) && BigInt(idText) <= MAX_INTEGER) return `i${idText.padStart(20, '0')}`;
  const groups = UUID.exec(String(idText.startsWith('"') ? JSON.parse(idText) : ''));
  if (groups) return `u${groups.slice(1).join('-').toLowerCase()}`;
  throw malformed(
    `value ${idText} is not a valid point ID, valid values are either an unsigned integer or a UUID`,
  );
}

export function toIdText(key: PointKey): string {
  return key.startsWith('i') ? String(BigInt(key.slice(1))) : `"${key.slice(1)}"`;
}
