// Tests the new version with writes of the run's test user. Hybrid search must work in every slot, the embedding model must be that
// of the old vectors, and a user must be able to write and search. Each of these can fail while everything else seems to work.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { MemoryBackend } from '../adapters/http-memory-backend.ts';
import type { VectorStore } from '../adapters/qdrant.ts';
import { asJsonText, toJsonText } from '../json/json-text.ts';
import { readMember } from '../json/memory-payload.ts';
import { hasKeywords, KEYWORD_SLOT, readUnnamedVector } from '../points.ts';
import { type Point, readDenseVector, type ScrolledPoint } from '../ports/vector-store.ts';
import { Refusal, recoverWith, whenRefusedWith } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import {
  builtCollectionsOf,
  filterTestUser,
  liveCollectionOf,
  testUserOf,
} from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { removeTestWrites } from './clean-up.ts';

const payloadSchema = v.object({ data: v.string(), text_lemmatized: v.optional(v.string()) });

const NO_KEYWORDS =
  'without fastembed and its keyword model, hybrid search would be disabled silently';
const NO_ENTITIES = 'without spaCy and en_core_web_sm, entities would never be found';

/** @throws Refusal naming the part that hybrid search would lack */
export async function proveHybrid(
  { vectors, preview }: Pick<Services, 'vectors' | 'preview'>,
  run: Run,
): Promise<void> {
  const { sourceCollection, targetCollection } = run.plan;
  await proveSlot(vectors, { source: sourceCollection, created: targetCollection });
  await provePoints(vectors, run);
  const [, companion] = builtCollectionsOf(run);
  if (!(await vectors.collectionExists(companion))) {
    throw new Refusal(
      'RefusedNewVersion',
      `The warm-up did not create ${companion}: ${NO_ENTITIES}.`,
    );
  }
  await proveSlot(vectors, { source: sourceCollection, created: companion });
  await proveSearch(preview, run);
}

/** Checks only the layout of the created collection, without writes. @throws Refusal */
export async function proveSlot(
  vectors: VectorStore,
  { source, created }: { source: string; created: string },
): Promise<void> {
  const expectedVector = readDenseVector(await vectors.readCollectionInfo(source));
  const info = await vectors.readCollectionInfo(created);
  const createdVector = readDenseVector(info);
  if (
    createdVector.size === undefined ||
    createdVector.size !== expectedVector.size ||
    createdVector.distance !== expectedVector.distance
  ) {
    const layouts = `${createdVector.size} ${createdVector.distance} where ${source} has ${expectedVector.size} ${expectedVector.distance}`;
    throw new Refusal('RefusedNewVersion', `${created} has ${layouts}.`);
  }
  if (info?.config.params.sparse_vectors?.[KEYWORD_SLOT]?.modifier !== 'idf') {
    throw new Refusal('RefusedNewVersion', `${created} has no slot with idf: ${NO_KEYWORDS}.`);
  }
}

async function provePoints(vectors: VectorStore, run: Run): Promise<void> {
  const filter = filterTestUser(run);
  const { points } = await vectors.scroll(run.plan.targetCollection, { limit: 100, filter });
  const withoutKeywords = points.filter(({ vector }) => !hasKeywords(vector));
  if (points.length === 0 || withoutKeywords.length > 0) {
    const missing = `${withoutKeywords.length} of ${points.length} points of the warm-up`;
    throw new Refusal('RefusedNewVersion', `${missing} have no keyword vector: ${NO_KEYWORDS}.`);
  }
  const payloads = points.map(({ payload }) => v.parse(payloadSchema, JSON.parse(payload)));
  if (payloads.every(({ data, text_lemmatized = data }) => text_lemmatized === data)) {
    throw new Refusal('RefusedNewVersion', `Words are not lemmatized: ${NO_ENTITIES}.`);
  }
}

async function proveSearch(preview: MemoryBackend | undefined, { runId }: Run): Promise<void> {
  const foundCount =
    (await preview?.search(
      testUserOf(runId),
      'Whom do I know, where do they live, and what do they love?',
    )) ?? 0;
  if (foundCount > 0) return;
  throw new Refusal(
    'RefusedNewVersion',
    'The new version does not find a memory that it has just stored.',
  );
}

/** @throws Refusal naming the part that failed */
export async function runSmokeTest({ services, run, renewLease }: StepContext): Promise<void> {
  const { backend, vectors } = services;
  const user = testUserOf(run.runId);
  await backend.health();
  await renewLease();
  await backend.chat(user, 'Good morning');
  for (const sentence of TEST_MEMORIES.slice(0, 2)) {
    await renewLease();
    await backend.addMemory(user, sentence);
  }
  if ((await backend.search(user, 'Who plays the cello, and where?')) === 0) {
    throw new Refusal(
      'RefusedNewVersion',
      'The new version does not find a memory that it has stored.',
    );
  }
  // The new version may no longer have this endpoint.
  if (!(await backend.isGraphDeprecated(user).catch(recoverWith(true, whenRefusedWith(404))))) {
    throw new Refusal(
      'RefusedNewVersion',
      'The backend does not report its graph as deprecated: is this the old version?',
    );
  }
  const filter = filterTestUser(run);
  const live = liveCollectionOf(run);
  const { points } = await vectors.scroll(live, { limit: 100, filter });
  if (points.length === 0) {
    throw new Refusal(
      'RefusedKeyOfOtherUser',
      `The memories written for ${user} are not in ${live} under that user.`,
    );
  }
  if (points.some(({ vector }) => !hasKeywords(vector))) {
    throw new Refusal('RefusedNewVersion', `New memories have no keyword vector: ${NO_KEYWORDS}.`);
  }
}

/** `unverified`: there are too few memories for a proof, or the backend does not tell which memory it found first. */
type EmbeddingProof = 'proved' | 'unverified';

const SAMPLE_SIZE = 64;
const CANDIDATE_COUNT = 16;
const PROBE_COUNT = 5;
// With another model, chance finds this many in about one run in 450. The proof tolerates memories whose text was changed by hand.
const MIN_FOUND = 3;

interface Candidate {
  readonly point: Point;
  readonly text: string;
}

/**
 * Copies vectors and texts of old memories to the test user, without keyword vectors, and searches for some of them. The test
 * user must have no other memories. The caller removes the copies, with the test user's other points.
 * @throws Refusal if other memories are found first
 */
export async function proveEmbeddings(
  { services: { vectors }, run, renewLease }: Pick<StepContext, 'services' | 'run' | 'renewLease'>,
  options: {
    readonly backend: MemoryBackend;
    /** Collection with known memories. After the switch, that is the new one: the old one may have been deleted. */
    readonly known: string;
    readonly collection: string;
  },
): Promise<EmbeddingProof> {
  const { backend, known, collection } = options;
  const user = testUserOf(run.runId);
  const { points } = await vectors.scroll(known, { limit: SAMPLE_SIZE });
  const candidates = toCandidates(points, user);
  if (candidates.length < CANDIDATE_COUNT) return 'unverified';
  await renewLease();
  const copies = candidates.map(({ point }) => point);
  await vectors.upsert(collection, copies, 'upsert');
  let foundCount = 0;
  for (const { point, text } of candidates.slice(0, PROBE_COUNT)) {
    const bestId = await backend.findBestMatch(user, text);
    if (bestId === undefined) return 'unverified';
    if (bestId === JSON.parse(point.id)) foundCount += 1;
  }
  if (foundCount >= MIN_FOUND) return 'proved';
  throw new Refusal(
    'RefusedNewVersion',
    `Of ${PROBE_COUNT} known memories, searched for by their own words, the new version finds only ${foundCount} first: it uses another embedding model.`,
  );
}

/**
 * True if the backend finds a memory that the test user has only in this collection. Searches work while writes are frozen; an
 * empty result proves nothing.
 */
export async function backendServesFrom(
  context: Pick<StepContext, 'services' | 'run' | 'renewLease'>,
  collection: string,
  otherCollection: string,
): Promise<boolean> {
  const { services, run, renewLease } = context;
  const { vectors, backend } = services;
  const user = testUserOf(run.runId);
  const [candidate] = toCandidates(
    (await vectors.scroll(collection, { limit: SAMPLE_SIZE })).points,
    user,
  );
  if (!candidate) return false;
  await removeTestWrites(context, [collection, otherCollection]);
  await renewLease();
  await vectors.upsert(collection, [candidate.point], 'upsert');
  const foundCount = await backend.search(user, candidate.text);
  await removeTestWrites(context, [collection]);
  return foundCount > 0;
}

function toCandidates(points: readonly ScrolledPoint[], user: string): Candidate[] {
  const byText = new Map<string, Candidate>();
  for (const { id, vector, payload } of points) {
    const text = readMember(payload, 'data');
    const dense = vector && readUnnamedVector(vector);
    if (!dense || typeof text !== 'string' || text.trim().length === 0) continue;
    const copiedPayload = toJsonText({ user_id: user, data: text });
    byText.set(text, {
      text,
      point: { id: deriveId(user, id), vector: asJsonText(dense), payload: copiedPayload },
    });
  }
  return [...byText.values()].slice(0, CANDIDATE_COUNT);
}

// A memory that is copied again gets the same id. No other point has that id.
function deriveId(user: string, id: string): Point['id'] {
  const hex = createHash('sha256').update(`${user}|${id}`).digest('hex');
  return toJsonText(hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5'));
}

type PremadeServices = Pick<Services, 'vectors' | 'preview'>;

/** Lists the run's collections that the new version has created already. They are empty and have the right layout. */
export async function listPremade(services: PremadeServices, run: Run): Promise<string[]> {
  if (!services.preview) return [];
  const existingCollections = await services.vectors.listCollections();
  const premade = [];
  for (const name of builtCollectionsOf(run)) {
    if (existingCollections.includes(name) && (await isPremade(services, run, name)))
      premade.push(name);
  }
  return premade;
}

async function isPremade(
  { vectors }: PremadeServices,
  { plan }: Run,
  created: string,
): Promise<boolean> {
  try {
    await proveSlot(vectors, { source: plan.sourceCollection, created });
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
  return (await vectors.count(created)) === 0;
}

/** Each states a fact about a person, with names. There are several, because a language model may find no fact in one of them. */
export const TEST_MEMORIES = [
  'My colleague Grace Hopper lives in Amsterdam and plays the cello.',
  'I work with Ada Lovelace at Analytical Engines in London, and I love sailing.',
  'My sister Maria Sibylla studies butterflies in Suriname and paints them.',
];
