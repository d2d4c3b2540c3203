// Fills the keyword slot of a collection that users work on: keyword vectors alone, never a dense vector or a payload. Each
// is written with a fingerprint of its text, in a slot of the migration's own. An upsert of the point empties both; a change
// of the payload alone leaves both, and then the fingerprint is not that of the text: whatever came in between is found.
import { hash } from 'node:crypto';
import type { VectorStore } from './adapters/qdrant.ts';
import { toJsonText } from './json/json-text.ts';
import { keywordTextOf } from './json/memory-payload.ts';
import { createBatchWriter, PAGE_SIZE } from './point-writer.ts';
import {
  createDigestSum,
  digestOf,
  EMPTY_SET,
  KEYWORD_MODEL,
  KEYWORD_SLOT,
  unnamedVectorOf,
  userOf,
  vectorNamed,
} from './points.ts';
import type {
  Filter,
  PointId,
  PointPayload,
  ScrolledPoint,
  SparseVector,
  SparseVectorSettings,
  VectorUpdate,
} from './ports/vector-store.ts';
import { isRefusedWith, takeAs } from './refusals.ts';
import { type CollectionPlace, pagesOf } from './scan.ts';

/** Removed with the run's end: users' versions neither read nor write it. */
export const SOURCE_SLOT = `${KEYWORD_SLOT}_source`;

const UNFILLED: Filter = {
  must_not: [{ must: [{ has_vector: KEYWORD_SLOT }, { has_vector: SOURCE_SLOT }] }],
};

/** Again without harm. @throws Refusal where the slot is there in another way */
export async function addKeywordSlot(
  { store, collection }: CollectionPlace,
  learned: SparseVectorSettings,
): Promise<void> {
  await store.addSparseVector(collection, KEYWORD_SLOT, learned);
  await store.addSparseVector(collection, SOURCE_SLOT, {});
}

/** Exact. */
export async function countUnfilled({ store, collection }: CollectionPlace): Promise<number> {
  return await store.count(collection, UNFILLED);
}

/** Plain JSON: where the next invocation goes on. */
export interface FillReport {
  /** That were looked at, and a digest of their ids and payloads. */
  readonly points: number;
  readonly digest: string;
  readonly filled: number;
  /** `null` at the end, and before the beginning. */
  readonly next: PointId | null;
}

export const FILL_START: FillReport = { points: 0, digest: EMPTY_SET, filled: 0, next: null };

export interface FillOptions {
  /**
   * unfilled: what lacks its keywords, which resumes by itself. all: what has those of another text as well; where nobody
   * writes, every point then has the keywords of its text.
   */
  readonly only: 'unfilled' | 'all';
  readonly from?: FillReport;
  /** Whose points are filled and not counted: the test user of a run. */
  readonly without?: string;
  readonly renew: () => Promise<void>;
  readonly save?: (reached: FillReport) => Promise<void>;
  readonly isTimeUp?: () => boolean;
}

/** One walk through the collection. While users write, a point may come to lack its keywords behind it. */
export async function fillKeywords(
  place: CollectionPlace,
  { only, from = FILL_START, without, renew, ...ports }: FillOptions,
): Promise<FillReport> {
  const { store, collection } = place;
  const { inBatches } = createBatchWriter(place, renew);
  const digest = createDigestSum(from.digest);
  const filter = only === 'unfilled' && { filter: UNFILLED };
  const request = { limit: PAGE_SIZE, vector: [SOURCE_SLOT], offset: from.next, ...filter };
  let reached = from;
  for await (const { points, nextOffset: next } of pagesOf(place, request)) {
    const updates = points.filter((point) => only === 'unfilled' || isStale(point)).map(toUpdate);
    await inBatches(updates, (batch) => updateThoseLeft(store, collection, batch));
    const counted = points.filter(({ payload }) => userOf(payload) !== without);
    for (const { id, payload } of counted) digest.add(digestOf(id, payload));
    reached = {
      points: reached.points + counted.length,
      digest: digest.text(),
      filled: reached.filled + updates.length,
      next,
    };
    if (next === null) break;
    await ports.save?.(reached);
    if (ports.isTimeUp?.()) break;
  }
  return reached;
}

// Among them may be a point that was deleted since it was read.
async function updateThoseLeft(
  store: VectorStore,
  collection: string,
  updates: readonly VectorUpdate[],
): Promise<void> {
  const isGone = (error: unknown) => isRefusedWith(error, 404);
  await store.updateVectors(collection, updates).catch(takeAs(undefined, isGone));
}

/** A user may have changed the text since it was read: then nothing is written. */
function toUpdate({ id, payload }: ScrolledPoint): VectorUpdate {
  const text = textOf(payload);
  const keywords = { text, model: KEYWORD_MODEL };
  const vector = { [KEYWORD_SLOT]: keywords, [SOURCE_SLOT]: fingerprintOf(text) };
  const match = { value: text };
  const members = ['data', 'text_lemmatized'].map((key) => ({ key, match }));
  const filter = text !== '' && { filter: { should: members } };
  return { id, vector: toJsonText(vector), ...filter };
}

function isStale({ payload, vector }: ScrolledPoint): boolean {
  const source = vector && vectorNamed(vector, SOURCE_SLOT);
  if (source === undefined) return true;
  // In any order.
  const { indices, values }: SparseVector = JSON.parse(source);
  const expected = fingerprintOf(textOf(payload));
  return expected.indices.some(
    (index, at) => values[indices.indexOf(index)] !== expected.values[at],
  );
}

const PARTS = [0, 1, 2, 3];
const PART_BYTES = 3;

/** 96 bits of the text's SHA-256, as whole numbers that a 32-bit float holds exactly. */
function fingerprintOf(text: string): SparseVector {
  const digest = hash('sha256', text, 'buffer');
  const values = PARTS.map((part) => digest.readUIntBE(part * PART_BYTES, PART_BYTES));
  return { indices: [...PARTS], values };
}

/** Empty where the new version makes no keywords of it: the slot is then there, and empty. */
function textOf(payload: PointPayload): string {
  return JSON.parse(keywordTextOf(payload) ?? '""');
}

const SAMPLE = 1_000;

/** Of the dense vectors of the first points: their ids are random. */
export async function denseSampleDigest(place: CollectionPlace): Promise<string> {
  const digest = createDigestSum();
  let looked = 0;
  for await (const { points } of pagesOf(place, { limit: PAGE_SIZE, payload: false })) {
    for (const { id, vector } of points) {
      digest.add(hash('sha256', `${id}|${vector && unnamedVectorOf(vector)}`, 'buffer'));
    }
    looked += points.length;
    if (looked >= SAMPLE) break;
  }
  return digest.text();
}
