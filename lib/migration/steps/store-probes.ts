// Probes the vector store in temporary collections: does it create keyword vectors, and does it fill a slot that is added to
// the active collection?
import type { VectorStore } from '../adapters/qdrant.ts';
import { toJsonText } from '../json/json-text.ts';
import { addKeywordSlot, fillUnfilled, listVersions } from '../keyword-fill.ts';
import { createBatchWriter } from '../point-writer.ts';
import { KEYWORD_MODEL, KEYWORD_SLOT } from '../points.ts';
import type { CollectionSettings } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import type { CollectionPlace } from '../scan.ts';
import type { Services } from '../services.ts';
import { createRealTime } from '../throttle.ts';
import { VECTOR_LAYOUT, VECTOR_STORE } from './collection-checks.ts';
import { type CheckContext, defineCheck } from './prerequisites.ts';
import { estimateSavings } from './store-space.ts';

/** Calls `work` with a temporary collection. Replaces a temporary collection that a killed preflight has left. */
async function withProbeCollection<Found>(
  vectors: VectorStore,
  { collection, layout }: { readonly collection: string; readonly layout: CollectionSettings },
  work: () => Promise<Found>,
): Promise<Found> {
  await vectors.deleteCollection(collection);
  try {
    await vectors.createCollection(collection, layout);
    return await work();
  } finally {
    await vectors.deleteCollection(collection);
  }
}

/** Each run has its own probe collections: two preflights may run on one store. */
const nameProbe = (purpose: string, runId: string) => `migration_${purpose}_${runId}`;

/** @internal Tests create a collection of this name. */
export const nameKeywordProbe = (runId: string): string => nameProbe('keyword_probe', runId);

export const KEYWORD_VECTORS = defineCheck({
  name: 'Keyword vectors',
  needs: [VECTOR_STORE],
  read: async ({ services: { vectors }, run: { runId }, mayWrite }: CheckContext) =>
    mayWrite ? await probeKeywords(vectors, nameKeywordProbe(runId)) : undefined,
  detail: (makesKeywords) => {
    if (makesKeywords === undefined) return 'tried with --execute';
    return makesKeywords ? 'made by the store' : 'not made by the store';
  },
  rules: [
    {
      why: (makesKeywords) =>
        makesKeywords === false && 'The store does not make keyword vectors from texts.',
      remedy:
        'Use Qdrant 1.15.3 or later, or go without keyword vectors of old memories: --accept empty-keywords.',
      accept: ['empty-keywords'],
    },
  ],
});

/** True if the store makes keyword vectors from texts */
async function probeKeywords(vectors: VectorStore, collection: string): Promise<boolean> {
  await assertNoPoints(vectors, collection);
  const layout: CollectionSettings = {
    vectors: { size: 1, distance: 'Cosine' },
    sparse_vectors: { [KEYWORD_SLOT]: { modifier: 'idf' } },
  };
  return await withProbeCollection(vectors, { collection, layout }, () =>
    vectors.encodesKeywords(collection, KEYWORD_SLOT),
  );
}

/** @throws Refusal if the collection has points: a killed probe leaves no points, so these belong to another program */
async function assertNoPoints(vectors: VectorStore, collection: string): Promise<void> {
  if (!(await vectors.collectionExists(collection))) return;
  const points = await vectors.count(collection);
  if (points > 0) throw new Refusal('RefusedNameTaken', `${collection} has ${points} points.`);
}

const MIN_VERSION = [1, 18] as const;

export const IN_PLACE = defineCheck({
  name: 'In place',
  needs: [VECTOR_LAYOUT],
  read: async ({ services, run, mayWrite }: CheckContext) => {
    const { vectors } = services;
    const savedBytes = await estimateSavings(vectors, run.plan);
    const obstacles = await findObstacles(services, run);
    // In a dry run, only the version of the store is checked.
    if (run.plan.inPlace && mayWrite && obstacles.length === 0) await probeSlot(vectors, run);
    return { obstacles, savedBytes };
  },
  detail: ({ obstacles, savedBytes }, { plan }) => {
    if (obstacles.length > 0) return `not possible: ${obstacles.join(' ')}`;
    const saves = `about ${(savedBytes / 1e9).toFixed(2)} GB on the store, the copy, and most of the window`;
    return plan.inPlace ? 'yes' : `possible with --in-place, which saves ${saves}`;
  },
  facts: ({ obstacles, savedBytes }) => ({ isPossible: obstacles.length === 0, savedBytes }),
  rules: [
    {
      why: ({ obstacles }, { plan }) => plan.inPlace && obstacles,
      remedy: 'Begin without --in-place: a migration to a new collection needs none of this.',
    },
  ],
});

async function findObstacles(
  { vectors, preview }: Services,
  { plan: { sourceCollection } }: Run,
): Promise<string[]> {
  const version = await vectors.fetchVersion();
  const isTooOld = !isNewEnough(version);
  const shards = isTooOld ? [] : await vectors.listShardStates(sourceCollection);
  return [
    ...(isTooOld ? [`It needs Qdrant 1.18 or later; the store runs ${version}.`] : []),
    ...(preview ? [] : ['It needs the new version at MEMORY_PREVIEW_URL, to learn the slot from.']),
    ...shards.filter((state) => state !== 'Active').map((state) => `A shard is ${state}.`),
  ];
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

/** Probes a collection with the strict mode of the active one, and with an index if the active one has an index. @throws Refusal */
async function probeSlot(vectors: VectorStore, run: Run): Promise<void> {
  const info = await vectors.readCollectionInfo(run.plan.sourceCollection);
  const { strict_mode_config } = info?.config ?? {};
  await trySlot(vectors, {
    // The word `trial` is stored: a probe that an earlier release was killed in has left a collection of that name.
    collection: nameProbe('slot_trial', run.runId),
    isIndexed: (info?.indexed_vectors_count ?? 0) > 0,
    settings: strict_mode_config ? { strict_mode_config } : {},
  });
}

/** Points for an indexed collection */
const INDEXED_POINTS = 1_000;
/** Thresholds, in kilobytes of vectors, at which the store builds an index */
const INDEX_THRESHOLDS = { indexing_threshold: 1, vacuum_min_vector_number: 100 };

/**
 * Adds a slot to the collection, fills it, and waits for the optimizer: a store may accept every write, and then stop optimizing
 * the collection (docs/migration/decisions/0010-in-place.md).
 * @internal
 */
export async function trySlot(
  vectors: VectorStore,
  options: {
    readonly collection: string;
    readonly isIndexed: boolean;
    readonly settings?: Partial<CollectionSettings>;
  },
): Promise<void> {
  const { collection, isIndexed, settings } = options;
  const place = { store: vectors, collection };
  const points = Array.from({ length: isIndexed ? INDEXED_POINTS : 1 }, (_, n) => ({
    id: toJsonText(n + 1),
    vector: toJsonText([Math.sin(n), Math.cos(n)]),
    payload: toJsonText({ data: `Cello number ${n}` }),
  }));
  const layout: CollectionSettings = {
    vectors: { size: 2, distance: 'Cosine' },
    ...(isIndexed && { optimizers_config: INDEX_THRESHOLDS }),
    ...settings,
  };
  await withProbeCollection(vectors, { collection, layout }, async () => {
    const { writeInBatches, assertMayWrite } = createBatchWriter(place);
    await writeInBatches(points, (batch) => vectors.upsert(collection, batch, 'upsert'));
    await waitUntilOptimized(place);
    await addKeywordSlot(place, { modifier: 'idf' });
    await fillUnfilled(place);
    await waitUntilOptimized(place);
    await assertMayWrite();
    if ((await listVersions(place)).points === points.length)
      return await vectors.removeVector(collection, KEYWORD_SLOT);
    throw new Refusal('RefusedByService', `The store does not fill a slot with ${KEYWORD_MODEL}.`);
  });
}

const MAX_OPTIMIZATION_MS = 30_000;
const POLL_MS = 250;

async function waitUntilOptimized({ store, collection }: CollectionPlace): Promise<void> {
  const { now, sleep } = createRealTime(new AbortController().signal);
  for (const startedAt = now(); now() - startedAt < MAX_OPTIMIZATION_MS; await sleep(POLL_MS)) {
    if ((await store.readCollectionInfo(collection))?.status !== 'yellow') return;
  }
}
