// Stands in for an embedding model: any two texts are slightly similar, and more similar with each word that they share.
import { createHash } from 'node:crypto';

/** Similarity that any two texts have, counted in shared words */
const COMMON_WORDS = 3;

/** Returns a unit vector, always the same for the same text. */
export function embed(text: string, size: number): number[] {
  const sum = embedWord('', size).map((value) => COMMON_WORDS * value);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    embedWord(word, size).forEach((value, n) => {
      sum[n] = (sum[n] ?? 0) + value;
    });
  }
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => Math.fround(value / length));
}

function embedWord(word: string, size: number): number[] {
  const seed = createHash('sha256').update(word).digest();
  return Array.from({ length: size }, (_, n) => (seed.readUInt8((n * 7) % 32) ^ (n & 0xff)) - 128);
}
