// The stores that a contract of the vector store runs on: the sandbox always, a real Qdrant when QDRANT_URL names one.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import type {
  CollectionSettings,
  Point,
  PointId,
  SnapshotDescription,
} from '../../../lib/migration/ports/vector-store.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';
import { DEFAULT_VERSION, type Feature, hasFeature } from '../../../sandbox/qdrant/versions.ts';
import { ONLY_REAL } from './real-services.ts';

export interface StoreUnderTest {
  readonly store: VectorStore;
  readonly url: string;
  /** True if the version under test has the feature. */
  has(feature: Feature): Promise<boolean>;
  /** Returns the name of a collection that is removed after the test. With `not-created`, the collection does not exist yet. */
  collection(settings?: CollectionSettings | 'not-created'): Promise<string>;
}

/** Layout of the old version of mem0, with fewer dimensions */
export const OLD_LAYOUT: CollectionSettings = { vectors: { size: 4, distance: 'Cosine' } };

/** Layout of the new version */
export const NEW_LAYOUT: CollectionSettings = {
  ...OLD_LAYOUT,
  sparse_vectors: { bm25: { modifier: 'idf' } },
};

/** The version that compose.yaml starts, and the last version before each change that affects the migration */
export const VERSIONS = [DEFAULT_VERSION, '1.17.1', '1.16.3', '1.15.2', '1.11.5'] as const;

/**
 * Runs a contract on every store, in `npm run test:real` only on a real one; a store that is not available shows as skipped.
 * @param feature skips the sandbox versions that lack the feature
 */
export function onEveryVectorStore(
  contract: (subject: StoreUnderTest) => void,
  feature?: Feature,
): void {
  const sandboxes = ONLY_REAL ? [] : VERSIONS;
  const versions = sandboxes.filter(
    (version) => feature === undefined || hasFeature(version, feature),
  );
  describe.each(versions)('the sandbox as %s', (version) => {
    let sandbox: QdrantSandbox;
    const subject = createStoreUnderTest(() => sandbox.url);
    beforeAll(async () => {
      sandbox = await startQdrantSandbox({ version });
    });
    afterAll(() => sandbox.close());
    contract(subject);
  });

  const url = process.env.QDRANT_URL;
  describe.skipIf(!url)('a real Qdrant (QDRANT_URL)', () => {
    contract(createStoreUnderTest(() => url ?? ''));
  });
}

function createStoreUnderTest(url: () => string): StoreUnderTest {
  const createdNames: string[] = [];
  let opened: VectorStore | undefined;
  const open = () => {
    opened ??= createQdrant({ url: url(), apiKey: process.env.QDRANT_API_KEY });
    return opened;
  };
  afterEach(async () => {
    for (const name of createdNames.splice(0)) await open().deleteCollection(name);
  });
  return {
    get store() {
      return open();
    },
    get url() {
      return url();
    },
    has: async (feature) => hasFeature(await open().fetchVersion(), feature),
    async collection(settings = NEW_LAYOUT) {
      const name = `contract_${randomUUID()}`;
      createdNames.push(name);
      if (settings !== 'not-created') await open().createCollection(name, settings);
      return name;
    },
  };
}

/** Creates an alias without the adapter: the migration creates no aliases, but must work with those of others. */
export async function createAlias(
  url: string,
  alias: string,
  collection: string,
  apiKey = process.env.QDRANT_API_KEY ?? 'secret',
): Promise<void> {
  const actions = [{ create_alias: { alias_name: alias, collection_name: collection } }];
  const headers = { 'content-type': 'application/json', 'api-key': apiKey };
  const body = JSON.stringify({ actions });
  const response = await fetch(`${url}/collections/aliases`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`The alias ${alias} was not created: ${await response.text()}`);
}

/** Waits for a snapshot that the store makes in the background: it exists once it is listed. */
export async function waitForSnapshot(
  store: VectorStore,
  collection: string,
): Promise<SnapshotDescription> {
  for (;;) {
    const [snapshot] = await store.listSnapshots(collection);
    if (snapshot) return snapshot;
    await pause(20);
  }
}

export function createPoint(
  id: number | string,
  payload: string,
  vector = '[1.0,0.0,0.0,0.0]',
): Point {
  return { id: pointId(id), vector: asJsonText(vector), payload: asJsonText(payload) };
}

/** Digits become an integer id; any other text is taken for a UUID. */
export function pointId(id: number | string): PointId {
  return asJsonText(/^\d+$/.test(String(id)) ? String(id) : JSON.stringify(id));
}
