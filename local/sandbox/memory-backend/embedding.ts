// Stands in for an embedding model: texts that share words lie near each other, always in the same place.
import { createHash } from 'node:crypto';

/** A unit vector. */
export function embed(text: string, size: number): number[] {
  const sum = new Array<number>(size).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    directionOf(word, size).forEach((value, n) => {
      sum[n] = (sum[n] ?? 0) + value;
    });
  }
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => Math.fround(value / length));
}

function directionOf(word: string, size: number): number[] {
  const seed = createHash('sha256').update(word).digest();
  return Array.from({ length: size }, (_, n) => (seed.readUInt8((n * 7) % 32) ^ (n & 0xff)) - 128);
}
