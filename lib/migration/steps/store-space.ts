// Estimates, from a sample of the points, how much space a migration needs on the vector store.
import type { VectorStore } from '../adapters/qdrant.ts';
import { findKeywordText } from '../json/memory-payload.ts';
import { readDenseVector, type ScrolledPoint } from '../ports/vector-store.ts';
import type { Plan } from '../runs/run.ts';
import { restoreTestCollectionOf } from '../runs/run-names.ts';
import { VECTOR_LAYOUT } from './collection-checks.ts';
import { type CheckContext, defineCheck } from './prerequisites.ts';

/** Copies of vectors and payloads: the new collection and, in the restore test, the uploaded file and its unpacked contents */
const COPY_COUNT = 3;
const COPY_COUNT_IN_PLACE = 2;
const FLOAT_BYTES = 4;
/** Size of a word in a keyword vector: an index and a weight */
const KEYWORD_BYTES = 8;
const SAMPLE_SIZE = 256;
const GIGABYTE = 1e9;

/** Estimates from the first points, which are a random sample because their ids are random. */
async function estimateSpace(vectors: VectorStore, { sourceCollection }: Plan) {
  const total = await vectors.count(sourceCollection);
  const info = await vectors.readCollectionInfo(sourceCollection);
  const { size: dimensions = 0 } = readDenseVector(info);
  const { points } = await vectors.scroll(sourceCollection, { limit: SAMPLE_SIZE, vector: false });
  const scale = total / Math.max(1, points.length);
  const payloadBytes = scale * sumPoints(points, ({ payload }) => Buffer.byteLength(payload));
  const keywordBytes = scale * sumPoints(points, countWords) * KEYWORD_BYTES;
  const copyBytes = payloadBytes + total * dimensions * FLOAT_BYTES;
  return {
    snapshotBytes: Math.ceil(copyBytes),
    neededBytes: Math.ceil(COPY_COUNT * copyBytes + keywordBytes),
    neededInPlace: Math.ceil(COPY_COUNT_IN_PLACE * copyBytes + keywordBytes),
  };
}

/** Space that a migration in place saves, compared with one to a new collection */
export async function estimateSavings(vectors: VectorStore, plan: Plan): Promise<number> {
  const { neededBytes, neededInPlace } = await estimateSpace(vectors, plan);
  return neededBytes - neededInPlace;
}

export const DISK_SPACE = defineCheck({
  name: 'Disk space',
  needs: [VECTOR_LAYOUT],
  read: async ({ services: { vectors }, run: { plan } }: CheckContext) => {
    const { neededBytes, neededInPlace } = await estimateSpace(vectors, plan);
    const { freeBytes = null } = plan;
    return { neededBytes: plan.inPlace ? neededInPlace : neededBytes, freeBytes };
  },
  detail: ({ neededBytes, freeBytes }) =>
    `needs about ${formatSize(neededBytes)}, ${formatFreeSpace(freeBytes)}`,
  facts: (space) => space,
  rules: [
    {
      why: ({ neededBytes, freeBytes }) =>
        freeBytes === null && `${formatNeededSpace(neededBytes)}, and its free space is unknown.`,
      remedy:
        'Measure the free space where the store keeps its data and give it with --free-gb, or accept it: --accept unknown-space.',
      accept: ['unknown-space'],
    },
    {
      why: ({ neededBytes, freeBytes }) =>
        freeBytes !== null &&
        freeBytes < neededBytes &&
        `${formatNeededSpace(neededBytes)}: ${formatFreeSpace(freeBytes)}.`,
      remedy: 'Free or add space on the store, then give the free space with --free-gb.',
    },
  ],
});

/** Checks that a proxy in front of the store accepts a whole snapshot: otherwise the restore test would fail after the backup. */
export const SNAPSHOT_UPLOAD = defineCheck({
  name: 'Snapshot upload',
  needs: [VECTOR_LAYOUT],
  read: async ({ services: { vectors }, run }: CheckContext) => {
    const { snapshotBytes } = await estimateSpace(vectors, run.plan);
    await vectors.probeUpload(restoreTestCollectionOf(run), snapshotBytes);
    return snapshotBytes;
  },
  detail: (bytes) => `a snapshot of about ${formatSize(bytes)} can be uploaded`,
  rules: [],
});

function formatNeededSpace(bytes: number): string {
  return `The migration needs about ${formatSize(bytes)} on the store`;
}

function formatFreeSpace(bytes: number | null): string {
  if (bytes === null) return 'free space unknown';
  return `${formatSize(bytes)} free as given with --free-gb, not measured`;
}

function countWords({ payload }: ScrolledPoint): number {
  const text = findKeywordText(payload);
  return text === undefined ? 0 : (JSON.parse(text).match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

function sumPoints(
  points: readonly ScrolledPoint[],
  measure: (point: ScrolledPoint) => number,
): number {
  return points.reduce((sum, point) => sum + measure(point), 0);
}

function formatSize(bytes: number): string {
  const exact = `${bytes.toLocaleString('en')} bytes`;
  return bytes < GIGABYTE ? exact : `${(bytes / GIGABYTE).toFixed(2)} GB`;
}
