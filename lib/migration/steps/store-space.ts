// The space that a migration takes on the vector store, estimated from a few points before anything is copied.
import type { VectorStore } from '../adapters/qdrant.ts';
import { keywordTextOf } from '../json/memory-payload.ts';
import { denseVectorOf, type ScrolledPoint } from '../ports/vector-store.ts';
import type { Plan, Run } from '../runs/run.ts';
import { restoreTestCollectionOf } from '../runs/run-names.ts';
import { type Finding, problem, REMEDY } from './prerequisites.ts';

/** Copies of vectors and payloads: the new collection; in the restore test the uploaded file and its unpacked contents */
const COPIES = 3;
const COPIES_IN_PLACE = 2;
const FLOAT = 4;
/** An index and a weight for each word. */
const KEYWORD = 8;
const SAMPLE = 256;
const GIGABYTE = 1e9;

/** Estimated from the first points: their ids are random. */
async function estimateSpace(vectors: VectorStore, { sourceCollection }: Plan) {
  const total = await vectors.count(sourceCollection);
  const info = await vectors.collectionInfo(sourceCollection);
  const { size: dimensions = 0 } = denseVectorOf(info);
  const { points } = await vectors.scroll(sourceCollection, { limit: SAMPLE, vector: false });
  const share = total / Math.max(1, points.length);
  const payloads = share * sumOf(points, ({ payload }) => Buffer.byteLength(payload));
  const keywords = share * sumOf(points, countWords) * KEYWORD;
  const one = payloads + total * dimensions * FLOAT;
  return {
    snapshotBytes: Math.ceil(one),
    neededBytes: Math.ceil(COPIES * one + keywords),
    neededInPlace: Math.ceil(COPIES_IN_PLACE * one + keywords),
  };
}

/** Against the way over a new collection. */
export async function inPlaceSaves(vectors: VectorStore, plan: Plan) {
  const { neededBytes, neededInPlace } = await estimateSpace(vectors, plan);
  return { savedBytes: neededBytes - neededInPlace };
}

/** A proxy before the store must let a whole snapshot pass: found out in the restore test, it would cost the backup. */
export async function checkUpload(vectors: VectorStore, run: Run): Promise<Finding> {
  const { snapshotBytes } = await estimateSpace(vectors, run.plan);
  await vectors.tryUpload(restoreTestCollectionOf(run), snapshotBytes);
  return { detail: `a snapshot of about ${sizeText(snapshotBytes)} can be uploaded`, problems: [] };
}

export async function checkSpace(vectors: VectorStore, plan: Plan): Promise<Finding> {
  const { freeBytes = null } = plan;
  const space = await estimateSpace(vectors, plan);
  const neededBytes = plan.inPlace ? space.neededInPlace : space.neededBytes;
  const needed = `The migration needs about ${sizeText(neededBytes)} on the store`;
  const isUnknown = freeBytes === null && !plan.accepts.includes('unknown-space');
  const free =
    freeBytes === null
      ? 'free space unknown'
      : `${sizeText(freeBytes)} free as given with --free-gb, not measured`;
  return {
    detail: `needs about ${sizeText(neededBytes)}, ${free}`,
    problems: [
      ...problem(isUnknown, `${needed}, and its free space is unknown.`, REMEDY.unknownSpace),
      ...problem(
        freeBytes !== null && freeBytes < neededBytes,
        `${needed}: ${free}.`,
        REMEDY.space,
      ),
    ],
    facts: { neededBytes, freeBytes },
  };
}

function countWords({ payload }: ScrolledPoint): number {
  const text = keywordTextOf(payload);
  return text === undefined ? 0 : (JSON.parse(text).match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

function sumOf(points: readonly ScrolledPoint[], figure: (point: ScrolledPoint) => number): number {
  return points.reduce((sum, point) => sum + figure(point), 0);
}

function sizeText(bytes: number): string {
  const exact = `${bytes.toLocaleString('en')} bytes`;
  return bytes < GIGABYTE ? exact : `${(bytes / GIGABYTE).toFixed(2)} GB`;
}
