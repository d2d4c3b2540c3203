// Whether the store has room for old, new, and a snapshot on its way: it does not tell what is free, people do.
import { keywordTextOf } from '../json/memory-payload.ts';
import type { ScrolledPoint, VectorStore } from '../ports/vector-store.ts';
import type { Plan } from '../runs/run.ts';
import { denseVectorOf, type Finding } from './preflight-checks.ts';

export interface SpaceCheck {
  readonly neededBytes: number;
  /** Null where nobody has told. */
  readonly freeBytes: number | null;
}

/** The new collection, the snapshot's file, and what it is unpacked to. */
const TIMES = 3;
/** All of it once more, where the new collection is uploaded under another name. */
const TIMES_UPLOADED = 2 * TIMES;
const FLOAT = 4;
/** An index and a weight for each word. */
const KEYWORD = 8;
const SAMPLE = 256;

/** Of a collection with one unnamed vector, by what its first points are like: their ids are random. */
export async function estimateSpace(vectors: VectorStore, plan: Plan): Promise<number> {
  const collection = plan.sourceCollection;
  const times = plan.uploadAs === undefined ? TIMES : TIMES_UPLOADED;
  const total = await vectors.count(collection);
  const info = await vectors.collectionInfo(collection);
  const { size: dimensions = 0 } = denseVectorOf(info?.config.params.vectors);
  const { points } = await vectors.scroll(collection, { limit: SAMPLE, vector: false });
  const share = total / Math.max(1, points.length);
  const payloads = share * sumOf(points, ({ payload }) => Buffer.byteLength(payload));
  const keywords = share * sumOf(points, wordsOf) * KEYWORD;
  return Math.ceil(times * (payloads + total * dimensions * FLOAT) + keywords);
}

export function checkSpace({ neededBytes, freeBytes }: SpaceCheck, { accepts }: Plan): Finding[] {
  const needed = `The migration needs about ${inWords(neededBytes)} on the store`;
  if (freeBytes !== null) {
    const why = `${needed}, and ${inWords(freeBytes)} are free.`;
    return freeBytes < neededBytes ? [{ name: 'RefusedLittleSpace', why }] : [];
  }
  const why = `${needed}, and nobody has told what is free.`;
  return accepts.includes('unknown-space') ? [] : [{ name: 'RefusedUnknownSpace', why }];
}

function wordsOf({ payload }: ScrolledPoint): number {
  const text = keywordTextOf(payload);
  return text === undefined ? 0 : (JSON.parse(text).match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

function sumOf(points: readonly ScrolledPoint[], figure: (point: ScrolledPoint) => number): number {
  return points.reduce((sum, point) => sum + figure(point), 0);
}

function inWords(bytes: number): string {
  const exact = `${bytes.toLocaleString('en')} bytes`;
  return bytes < GIGABYTE ? exact : `${(bytes / GIGABYTE).toFixed(2)} GB (${exact})`;
}

const GIGABYTE = 1e9;
