// Fills the keyword slot of a collection in use: writes keyword vectors alone, never a dense vector or a payload. Each is
// written with a fingerprint of its text, in a slot of the migration's own. An upsert of the point empties both slots; a
// change of the payload alone leaves both, and the fingerprint no longer matches the text. Either way the change is found.
import { hash } from 'node:crypto';
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
  vectorNamed,
} from './points.ts';
import type {
  Filter,
  Hit,
  PointId,
  PointPayload,
  ScrolledPoint,
  SparseVector,
  SparseVectorSettings,
  VectorUpdate,
} from './ports/vector-store.ts';
import { Refusal, refusedWith, takeAs } from './refusals.ts';
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

interface FillOptions {
  readonly renew?: () => Promise<void>;
  readonly isTimeUp?: () => boolean;
  /** Hears of each page how many points were filled by then. */
  readonly save?: (filled: number) => Promise<void>;
}

/**
 * Fills what lacks its keywords, and so resumes by itself. While users write, a point may come to lack them behind it.
 * @returns how many it has filled, and whether it came to the end
 */
export async function fillUnfilled(
  place: CollectionPlace,
  { renew, isTimeUp, save }: FillOptions = {},
): Promise<{ readonly filled: number; readonly isComplete: boolean }> {
  const { inBatches } = createBatchWriter(place, renew);
  const request = { limit: PAGE_SIZE, vector: false, filter: UNFILLED };
  let filled = 0;
  for await (const { points, nextOffset } of pagesOf(place, request)) {
    await inBatches(points.map(toUpdate), (batch) => updateThoseLeft(place, batch));
    filled += points.length;
    if (nextOffset === null) break;
    await save?.(filled);
    if (isTimeUp?.()) return { filled, isComplete: false };
  }
  return { filled, isComplete: true };
}

/** Plain JSON: where the next invocation goes on. */
export interface VersionWalk {
  /** Filled points and a digest of their ids and versions: both stay the same while none of the points is written to. */
  readonly points: number;
  readonly digest: string;
  /** Points that had the keywords of an earlier text */
  readonly refilled: number;
  /** A point that is written to after the walk began gets a higher version. */
  readonly highest: number;
  /** Bucket of points that comes next. */
  readonly next: number;
  readonly isComplete: boolean;
}

export const WALK_START: VersionWalk = {
  points: 0,
  digest: EMPTY_SET,
  refilled: 0,
  highest: 0,
  next: 0,
  isComplete: false,
};

/**
 * The store numbers the writes to a collection, and each point has the number of the last one to it, its version: also where
 * that was a payload alone. To list the versions takes the store a fraction of the time that reading the points takes. Only
 * points that were written to since are read, and filled again where they have the keywords of another text.
 * @param since nothing is read with `Infinity`
 */
export async function walkVersions(
  place: CollectionPlace,
  options: Omit<FillOptions, 'save'> & {
    readonly since: number;
    readonly from?: VersionWalk;
    readonly save?: (reached: VersionWalk) => Promise<void>;
  },
): Promise<VersionWalk> {
  const { since, from = WALK_START, renew, isTimeUp, save } = options;
  const digest = createDigestSum(from.digest);
  const { width, list } = await createLister(place);
  const writer = createBatchWriter(place, renew);
  let walk = from;
  while (!walk.isComplete) {
    const listed = await list(walk.next);
    for (const { id, version } of listed) digest.add(hash('sha256', `${id}|${version}`, 'buffer'));
    const changed = listed.filter(({ version }) => version > since).map(({ id }) => id);
    const next = walk.next + width;
    walk = {
      points: walk.points + listed.length,
      digest: digest.text(),
      refilled: walk.refilled + (await refillStale(place, changed, writer)),
      highest: walk.next > 0 ? walk.highest : Math.max(0, ...listed.map(({ version }) => version)),
      next,
      isComplete: next >= BUCKETS,
    };
    await save?.(walk);
    if (isTimeUp?.()) break;
  }
  return walk;
}

/** Lists the filled points and their versions without reading or writing a payload. */
export async function listVersions(place: CollectionPlace): Promise<VersionWalk> {
  return await walkVersions(place, { since: Number.POSITIVE_INFINITY });
}

async function refillStale(
  place: CollectionPlace,
  ids: readonly PointId[],
  { inBatches }: ReturnType<typeof createBatchWriter>,
): Promise<number> {
  const { store, collection } = place;
  let refilled = 0;
  for (let at = 0; at < ids.length; at += PAGE_SIZE) {
    const page = ids.slice(at, at + PAGE_SIZE);
    const points = await store.retrieve(collection, page, { vector: [SOURCE_SLOT] });
    const updates = points.filter(isStale).map(toUpdate);
    await inBatches(updates, (batch) => updateThoseLeft(place, batch));
    refilled += updates.length;
  }
  return refilled;
}

/** Each point is in one of them, by its id: so many are listed at once that the answer is not too long. */
const BUCKETS = 1_024;
/** The limit that mem0 itself asks for: the preflight refuses a store that allows less. */
const MAX_LIST_LENGTH = 10_000;
/** Some buckets are fuller than others. */
const USUAL_LIST = 8_000;

async function createLister({ store, collection }: CollectionPlace) {
  const share = USUAL_LIST / Math.max(USUAL_LIST, await store.count(collection));
  const width = Math.max(1, Math.floor(share * BUCKETS));
  return {
    width,
    async list(first: number): Promise<readonly Hit[]> {
      const indices = Array.from({ length: width }, (_, n) => PARTS.length + first + n);
      const nearest = { slot: SOURCE_SLOT, indices };
      const { hits } = await store.search(collection, { nearest, limit: MAX_LIST_LENGTH });
      if (hits.length < MAX_LIST_LENGTH) return hits;
      throw new Refusal('RefusedByService', `${collection} has too many points for a list.`);
    },
  };
}

// Among them may be a point that was deleted since it was read.
async function updateThoseLeft(
  { store, collection }: CollectionPlace,
  updates: readonly VectorUpdate[],
): Promise<void> {
  await store.updateVectors(collection, updates).catch(takeAs(undefined, refusedWith(404)));
}

/** A user may have changed the text since it was read: then nothing is written. */
function toUpdate({ id, payload }: ScrolledPoint): VectorUpdate {
  const text = textOf(payload);
  const keywords = { text, model: KEYWORD_MODEL };
  const vector = { [KEYWORD_SLOT]: keywords, [SOURCE_SLOT]: fingerprintText(id, text) };
  const match = { value: text };
  const members = ['data', 'text_lemmatized'].map((key) => ({ key, match }));
  const filter = text !== '' && { filter: { should: members } };
  return { id, vector: toJsonText(vector), ...filter };
}

function isStale({ id, payload, vector }: ScrolledPoint): boolean {
  const source = vector && vectorNamed(vector, SOURCE_SLOT);
  if (source === undefined) return true;
  // In any order.
  const { indices, values }: SparseVector = JSON.parse(source);
  const expected = fingerprintText(id, textOf(payload));
  return expected.indices.some(
    (index, at) => values[indices.indexOf(index)] !== expected.values[at],
  );
}

const PARTS = [0, 1, 2, 3];
const PART_BYTES = 3;

/** 96 bits of the text's SHA-256, as whole numbers that a 32-bit float holds exactly; and by which bucket the point is listed. */
function fingerprintText(id: PointId, text: string): SparseVector {
  const digest = hash('sha256', text, 'buffer');
  const values = PARTS.map((part) => digest.readUIntBE(part * PART_BYTES, PART_BYTES));
  const bucket = hash('sha256', id, 'buffer').readUInt16BE() % BUCKETS;
  return { indices: [...PARTS, PARTS.length + bucket], values: [...values, 1] };
}

/** Empty where the new version makes no keywords of it: the slot is then there, and empty. */
function textOf(payload: PointPayload): string {
  return JSON.parse(keywordTextOf(payload) ?? '""');
}

const SAMPLE = 1_000;

/** Digest of everything that users stored in the first points. Their ids are random, so this is a random sample. */
export async function sampleDigest(place: CollectionPlace): Promise<string> {
  const digest = createDigestSum();
  let looked = 0;
  for await (const { points } of pagesOf(place, { limit: PAGE_SIZE })) {
    for (const { id, payload, vector } of points) {
      digest.add(digestOf(id, payload));
      digest.add(hash('sha256', `${id}|${vector && unnamedVectorOf(vector)}`, 'buffer'));
    }
    looked += points.length;
    if (looked >= SAMPLE) break;
  }
  return digest.text();
}
