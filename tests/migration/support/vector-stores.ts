// The stores a vector-store contract is proved on: the sandbox always, a real Qdrant when QDRANT_URL names one.
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
import { DEFAULT_VERSION, type Feature, has } from '../../../sandbox/qdrant/versions.ts';

export interface StoreUnderTest {
  readonly store: VectorStore;
  readonly url: string;
  /** True if the version under test has the feature. */
  has(feature: Feature): Promise<boolean>;
  /** The name of a collection that is removed after the test; made at once by default. */
  collection(settings?: CollectionSettings | 'not-made'): Promise<string>;
}

/** Layout of the old version of mem0, with fewer dimensions */
export const OLD_LAYOUT: CollectionSettings = { vectors: { size: 4, distance: 'Cosine' } };

/** Layout of the new version */
export const NEW_LAYOUT: CollectionSettings = {
  ...OLD_LAYOUT,
  sparse_vectors: { bm25: { modifier: 'idf' } },
};

/** The one that compose.yaml starts, and the last one before each change that the migration notices. */
export const VERSIONS = [DEFAULT_VERSION, '1.17.1', '1.16.3', '1.15.2', '1.11.5'] as const;

/**
 * Runs a contract on every store; one that is not there shows as skipped.
 * @param feature without which there is nothing to be tested
 */
export function onEveryVectorStore(
  contract: (test: StoreUnderTest) => void,
  feature?: Feature,
): void {
  const versions = VERSIONS.filter((version) => feature === undefined || has(version, feature));
  describe.each(versions)('the sandbox as %s', (version) => {
    let sandbox: QdrantSandbox;
    const under = createStoreUnderTest(() => sandbox.url);
    beforeAll(async () => {
      sandbox = await startQdrantSandbox({ version });
    });
    afterAll(() => sandbox.close());
    contract(under);
  });

  const url = process.env.QDRANT_URL;
  describe.skipIf(!url)('a real Qdrant (QDRANT_URL)', () => {
    contract(createStoreUnderTest(() => url ?? ''));
  });
}

function createStoreUnderTest(url: () => string): StoreUnderTest {
  const made: string[] = [];
  let opened: VectorStore | undefined;
  const open = () => {
    opened ??= createQdrant({ url: url(), apiKey: process.env.QDRANT_API_KEY });
    return opened;
  };
  afterEach(async () => {
    for (const name of made.splice(0)) await open().deleteCollection(name);
  });
  return {
    get store() {
      return open();
    },
    get url() {
      return url();
    },
    has: async (feature) => has(await open().version(), feature),
    async collection(settings = NEW_LAYOUT) {
      const name = `contract_${randomUUID()}`;
      made.push(name);
      if (settings !== 'not-made') await open().createCollection(name, settings);
      return name;
    },
  };
}

/** The migration makes no aliases, but meets them. */
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
  if (!response.ok) throw new Error(`No alias ${alias}: ${await response.text()}`);
}

/** Made by a store in the background: there when it is listed. */
export async function untilSnapshot(
  store: VectorStore,
  collection: string,
): Promise<SnapshotDescription> {
  for (;;) {
    const [snapshot] = await store.listSnapshots(collection);
    if (snapshot) return snapshot;
    await pause(20);
  }
}

export function point(id: number | string, payload: string, vector = '[1.0,0.0,0.0,0.0]'): Point {
  return { id: pointId(id), vector: asJsonText(vector), payload: asJsonText(payload) };
}

/** Digits are an integer id, anything else a UUID. */
export function pointId(id: number | string): PointId {
  return asJsonText(/^\d+$/.test(String(id)) ? String(id) : JSON.stringify(id));
}
