// Fills the keyword slot of the active collection, without writing dense vectors or payloads. A fingerprint of each text is written
// to a second slot, so that users' changes are detected: an upsert empties both slots, and after a change of the payload alone
// the fingerprint no longer matches the text.
import { hash } from 'node:crypto';
import { toJsonText } from './json/json-text.ts';
import { findKeywordText } from './json/memory-payload.ts';
import { createBatchWriter, PAGE_SIZE } from './point-writer.ts';
import {
  createDigestSum,
  digestPoint,
  EMPTY_SET,
  findVector,
  KEYWORD_MODEL,
  KEYWORD_SLOT,
  readUnnamedVector,
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
import { Refusal, recoverWith, whenRefusedWith } from './refusals.ts';
import { type Resumed, type Timed, UNINTERRUPTED, type Walk } from './runs/journal.ts';
import { type CollectionPlace, readPages } from './scan.ts';

/** Slot of the fingerprints. It is removed when the run ends; neither version reads or writes it. */
export const SOURCE_SLOT = `${KEYWORD_SLOT}_source`;

/** Matches points that lack keywords or their fingerprint. */
const UNFILLED: Filter = {
  must_not: [{ must: [{ has_vector: KEYWORD_SLOT }, { has_vector: SOURCE_SLOT }] }],
};

/** Adds both slots. Can be repeated. @throws Refusal if the keyword slot exists with other settings */
export async function addKeywordSlot(
  { store, collection }: CollectionPlace,
  settings: SparseVectorSettings,
): Promise<void> {
  await store.addSparseVector(collection, KEYWORD_SLOT, settings);
  await store.addSparseVector(collection, SOURCE_SLOT, {});
}

export async function countUnfilled({ store, collection }: CollectionPlace): Promise<number> {
  return await store.count(collection, UNFILLED);
}

type WalkPorts<Cursor> = Pick<Walk<Cursor>, 'checkpoint'> & Partial<Pick<Timed, 'renewLease'>>;

/**
 * Fills all points that lack keywords. A repeated call continues where the last one ended, because filled points are no longer
 * found. Points that users write meanwhile may remain unfilled.
 * @returns the number of filled points, which is also saved after every page
 */
export async function fillUnfilled(
  place: CollectionPlace,
  { checkpoint, renewLease }: WalkPorts<number> = UNINTERRUPTED,
): Promise<number> {
  const { writeInBatches } = createBatchWriter(place, renewLease);
  const request = { limit: PAGE_SIZE, vector: false, filter: UNFILLED };
  let filled = 0;
  for await (const { points, nextOffset } of readPages(place, request)) {
    await writeInBatches(points.map(toUpdate), (batch) => updateExisting(place, batch));
    filled += points.length;
    if (nextOffset !== null) await checkpoint(() => filled);
  }
  return filled;
}

/** Result of a walk over the versions of points, and its cursor; plain JSON */
export interface VersionWalk {
  /** Number of filled points */
  readonly points: number;
  /** Digest of the ids and versions of these points; it changes when any of them is written to */
  readonly digest: string;
  /** Points filled again, because their keywords belonged to an earlier text */
  readonly refilled: number;
  /** Highest version in the first response: points written to since then have a higher one. */
  readonly highest: number;
  /** First bucket that has not been listed yet */
  readonly next: number;
}

const WALK_START: VersionWalk = { points: 0, digest: EMPTY_SET, refilled: 0, highest: 0, next: 0 };

/**
 * Lists the filled points, and fills those again whose keywords belong to another text. The store numbers the writes to a
 * collection, and a point's version is the number of its last write, even if that changed only the payload. Listing versions is
 * much faster than reading points, so only points with a version above `since` are read; with `Infinity` none.
 */
export async function walkVersions(
  place: CollectionPlace,
  since: number,
  {
    cursor,
    checkpoint,
    renewLease,
  }: WalkPorts<VersionWalk> & Partial<Resumed<VersionWalk>> = UNINTERRUPTED,
): Promise<VersionWalk> {
  let walk = cursor ?? WALK_START;
  const digest = createDigestSum(walk.digest);
  const { bucketsPerRequest, list } = await createVersionLister(place);
  const writer = createBatchWriter(place, renewLease);
  while (walk.next < BUCKET_COUNT) {
    const hits = await list(walk.next);
    for (const { id, version } of hits) digest.add(hash('sha256', `${id}|${version}`, 'buffer'));
    const changedIds = hits.filter(({ version }) => version > since).map(({ id }) => id);
    walk = {
      points: walk.points + hits.length,
      digest: digest.toHex(),
      refilled: walk.refilled + (await refillStale(place, changedIds, writer)),
      highest: walk.next > 0 ? walk.highest : Math.max(0, ...hits.map(({ version }) => version)),
      next: walk.next + bucketsPerRequest,
    };
    await checkpoint(() => walk);
  }
  return walk;
}

/** Lists the filled points and their versions without reading or writing a payload. */
export async function listVersions(place: CollectionPlace): Promise<VersionWalk> {
  return await walkVersions(place, Number.POSITIVE_INFINITY);
}

async function refillStale(
  place: CollectionPlace,
  ids: readonly PointId[],
  { writeInBatches }: ReturnType<typeof createBatchWriter>,
): Promise<number> {
  const { store, collection } = place;
  let refilled = 0;
  for (let start = 0; start < ids.length; start += PAGE_SIZE) {
    const page = ids.slice(start, start + PAGE_SIZE);
    const points = await store.retrieve(collection, page, { vector: [SOURCE_SLOT] });
    const updates = points.filter(isStale).map(toUpdate);
    await writeInBatches(updates, (batch) => updateExisting(place, batch));
    refilled += updates.length;
  }
  return refilled;
}

/** A point's id decides its bucket. One request lists as many buckets as fit into a response. */
const BUCKET_COUNT = 1_024;
/** Number of search results that mem0 itself requests; the preflight refuses a store that allows fewer. */
const MAX_LIST_LENGTH = 10_000;
/** Below the maximum, because some buckets are fuller than others */
const TARGET_LIST_LENGTH = 8_000;

async function createVersionLister({ store, collection }: CollectionPlace) {
  const share = TARGET_LIST_LENGTH / Math.max(TARGET_LIST_LENGTH, await store.count(collection));
  const bucketsPerRequest = Math.max(1, Math.floor(share * BUCKET_COUNT));
  return {
    bucketsPerRequest,
    async list(firstBucket: number): Promise<readonly Hit[]> {
      const indices = Array.from(
        { length: bucketsPerRequest },
        (_, index) => FINGERPRINT_PARTS.length + firstBucket + index,
      );
      const nearest = { slot: SOURCE_SLOT, indices };
      const { hits } = await store.search(collection, { nearest, limit: MAX_LIST_LENGTH });
      if (hits.length < MAX_LIST_LENGTH) return hits;
      throw new Refusal('RefusedByService', `${collection} has too many points to list.`);
    },
  };
}

// A point may have been deleted since it was read.
async function updateExisting(
  { store, collection }: CollectionPlace,
  updates: readonly VectorUpdate[],
): Promise<void> {
  await store
    .updateVectors(collection, updates)
    .catch(recoverWith(undefined, whenRefusedWith(404)));
}

/** Creates an update that writes nothing if a user has changed the text since it was read. */
function toUpdate({ id, payload }: ScrolledPoint): VectorUpdate {
  const text = readMemoryText(payload);
  const keywords = { text, model: KEYWORD_MODEL };
  const vector = { [KEYWORD_SLOT]: keywords, [SOURCE_SLOT]: computeFingerprint(id, text) };
  const match = { value: text };
  const textMatches = ['data', 'text_lemmatized'].map((key) => ({ key, match }));
  const textCondition = text !== '' && { filter: { should: textMatches } };
  return { id, vector: toJsonText(vector), ...textCondition };
}

function isStale({ id, payload, vector }: ScrolledPoint): boolean {
  const storedFingerprint = vector && findVector(vector, SOURCE_SLOT);
  if (storedFingerprint === undefined) return true;
  // The store returns the indices in any order.
  const { indices, values }: SparseVector = JSON.parse(storedFingerprint);
  const expected = computeFingerprint(id, readMemoryText(payload));
  return expected.indices.some(
    (index, position) => values[indices.indexOf(index)] !== expected.values[position],
  );
}

const FINGERPRINT_PARTS = [0, 1, 2, 3];
const PART_BYTES = 3;

/** The vector has 96 bits of the text's SHA-256, as whole numbers that a 32-bit float can hold, and an entry for the bucket. */
function computeFingerprint(id: PointId, text: string): SparseVector {
  const digest = hash('sha256', text, 'buffer');
  const values = FINGERPRINT_PARTS.map((part) => digest.readUIntBE(part * PART_BYTES, PART_BYTES));
  const bucket = hash('sha256', id, 'buffer').readUInt16BE() % BUCKET_COUNT;
  return {
    indices: [...FINGERPRINT_PARTS, FINGERPRINT_PARTS.length + bucket],
    values: [...values, 1],
  };
}

/** Reads the text for keywords; empty if the new version would make no keywords: the slot then gets an empty vector. */
function readMemoryText(payload: PointPayload): string {
  return JSON.parse(findKeywordText(payload) ?? '""');
}

const SAMPLE_SIZE = 1_000;

/** Computes a digest of the first points, with their vectors. Ids are random, so this is a random sample. */
export async function sampleDigest(place: CollectionPlace): Promise<string> {
  const digest = createDigestSum();
  let sampledPoints = 0;
  for await (const { points } of readPages(place, { limit: PAGE_SIZE })) {
    for (const { id, payload, vector } of points) {
      digest.add(digestPoint(id, payload));
      digest.add(hash('sha256', `${id}|${vector && readUnnamedVector(vector)}`, 'buffer'));
    }
    sampledPoints += points.length;
    if (sampledPoints >= SAMPLE_SIZE) break;
  }
  return digest.toHex();
}
