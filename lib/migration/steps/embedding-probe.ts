// Whether the new version has the embedding model that the old vectors were made with. Another one of the same
// dimensions looks alike to the store and finds nothing: so known memories are searched for by their own words.
import { createHash } from 'node:crypto';
import { asJsonText, toJsonText } from '../json/json-text.ts';
import { unnamedVectorOf } from '../points.ts';
import { type MemoryBackend, testUserOf } from '../ports/memory-backend.ts';
import type { Point, ScrolledPoint } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { StepContext } from '../runs/step.ts';

/** `unverified`: there are too few memories for a proof, or the backend does not say which one it found first. */
export type EmbeddingProof = 'proved' | 'unverified';

const SAMPLE = 64;
const CANDIDATES = 16;
const PROBES = 5;
// By chance, once in some four hundred times; and a memory whose words were changed by hand condemns nobody.
const LEAST_FOUND = 3;

interface Candidate {
  readonly point: Point;
  readonly text: string;
}

/**
 * Borrows vectors and texts of old memories for the test user, without keyword vectors, and asks for some of them.
 * They have to be the test user's only memories, and are removed with the test user's.
 * @throws Refusal when others are found first
 */
export async function proveEmbeddings(
  { services: { vectors }, run, renew }: Pick<StepContext, 'services' | 'run' | 'renew'>,
  options: {
    readonly backend: MemoryBackend;
    /** That has the old memories: at the cutover the old one may be gone, and the new one has them. */
    readonly known: string;
    readonly collection: string;
  },
): Promise<EmbeddingProof> {
  const { backend, known, collection } = options;
  const user = testUserOf(run.runId);
  const { points } = await vectors.scroll(known, { limit: SAMPLE });
  const candidates = toCandidates(points, user);
  if (candidates.length < CANDIDATES) return 'unverified';
  await renew();
  const borrowed = candidates.map(({ point }) => point);
  await vectors.upsert(collection, borrowed, 'upsert');
  let found = 0;
  for (const { point, text } of candidates.slice(0, PROBES)) {
    const best = await backend.bestMatch(user, text);
    if (best === undefined) return 'unverified';
    if (best === JSON.parse(point.id)) found += 1;
  }
  if (found >= LEAST_FOUND) return 'proved';
  throw new Refusal(
    'RefusedOtherVectors',
    `Of ${PROBES} known memories, searched for by their own words, the new version finds ${found} first: another embedding model.`,
  );
}

function toCandidates(points: readonly ScrolledPoint[], user: string): Candidate[] {
  const byText = new Map<string, Candidate>();
  for (const { id, vector, payload } of points) {
    const text = (JSON.parse(payload) as { data?: unknown } | null)?.data;
    const dense = vector && unnamedVectorOf(vector);
    if (!dense || typeof text !== 'string' || text.trim().length === 0) continue;
    const memory = toJsonText({ user_id: user, data: text });
    byText.set(text, {
      text,
      point: { id: ownId(user, id), vector: asJsonText(dense), payload: memory },
    });
  }
  return [...byText.values()].slice(0, CANDIDATES);
}

// The same one whenever it is borrowed again, and that of no memory.
function ownId(user: string, id: string): Point['id'] {
  const hex = createHash('sha256').update(`${user}|${id}`).digest('hex');
  return toJsonText(hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5'));
}
