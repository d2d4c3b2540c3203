// Server-side BM25: a text becomes a sparse vector of term frequencies, saturated and length-normalised.
// Terms are hashed as in Qdrant (|murmur3_32|) and weighted with Qdrant's defaults. The stemmer only folds plurals and the
// commonest verb endings, while Qdrant uses Snowball's English stemmer: the sandbox's vectors are deterministic and agree with
// each other, but not with the vectors of a real server.
import { murmur3 } from './murmur3.ts';

export interface SparseVector {
  /** Hashes of the terms, in ascending order */
  readonly indices: Uint32Array;
  readonly values: Float32Array;
}

const K = 1.2;
const B = 0.75;
const AVERAGE_LENGTH = 256;
const MAX_TERM_LENGTH = 40;

const STOP_WORDS = new Set(
  (
    'a about an and are as at be been but by can did do does for from had has have he her his how i if in ' +
    'into is it its just me my no nor not of on or our she so some such than that the their them then ' +
    'there these they this to too very was we were what when where which who will with you your'
  ).split(' '),
);

/** Returns an empty vector if the text has no terms. */
export function encodeBm25(text: string): SparseVector {
  const terms = splitTerms(text);
  const frequencies = new Map<number, number>();
  for (const term of terms) {
    const id = Math.abs(murmur3(term) | 0);
    frequencies.set(id, (frequencies.get(id) ?? 0) + 1);
  }
  const indices = Uint32Array.from(frequencies.keys()).sort();
  const weigh = (id: number) => computeWeight(frequencies.get(id) ?? 0, terms.length);
  return { indices, values: Float32Array.from(indices, weigh) };
}

function computeWeight(frequency: number, length: number): number {
  return (frequency * (K + 1)) / (frequency + K * (1 - B + (B * length) / AVERAGE_LENGTH));
}

function splitTerms(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word) && word.length <= MAX_TERM_LENGTH).map(stem);
}

function stem(word: string): string {
  if (word.length < 4) return word;
  return word
    .replace(/ies$/, 'y')
    .replace(/([^s])s$/, '$1')
    .replace(/(..)(ing|ed|ly)$/, '$1');
}
