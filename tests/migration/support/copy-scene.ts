// A sandbox with an old collection full of memories and an empty new collection, for tests of `reconcile`.
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { reconcile } from '../../../lib/migration/reconcile.ts';
import type { ReconcileSettings } from '../../../lib/migration/resolver.ts';
import { UNINTERRUPTED } from '../../../lib/migration/runs/journal.ts';
import { generateMemories } from '../../../sandbox/awkward-memories.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';

export interface CopyScene {
  readonly sandbox: QdrantSandbox;
  readonly store: VectorStore;
  readonly settings: ReconcileSettings;
}

export interface SceneOptions {
  readonly count: number;
  readonly dimensions?: number;
  readonly pageSize?: number;
  readonly version?: string;
  readonly maxBodyBytes?: number;
}

export const OLD = 'memories';
export const NEW = 'memories_v3';

export async function startCopyScene(options: SceneOptions): Promise<CopyScene> {
  const { count, dimensions = 4, pageSize = 64, version = '1.18.3' } = options;
  const { maxBodyBytes = 32 * 1024 * 1024 } = options;
  const sandbox = await startQdrantSandbox({ version, maxBodyBytes });
  // Calls the sandbox without the network: the contract of the vector store covers HTTP.
  const store = createQdrant({ url: sandbox.url, fetch: sandbox.fetch });
  await store.createCollection(OLD, { vectors: { size: dimensions, distance: 'Cosine' } });
  await store.createPayloadIndex(OLD, { field_name: 'user_id', field_schema: 'keyword' });
  await createTarget(store, dimensions);
  await fill(store, count, dimensions);
  return {
    sandbox,
    store,
    settings: {
      from: { store, collection: OLD },
      to: { store, collection: NEW },
      mode: 'repair',
      pageSize,
      keywords: 'by-store',
    },
  };
}

export async function createTarget(store: VectorStore, dimensions = 4): Promise<void> {
  await store.createCollection(NEW, {
    vectors: { size: dimensions, distance: 'Cosine' },
    sparse_vectors: { bm25: { modifier: 'idf' } },
  });
}

async function fill(store: VectorStore, count: number, dimensions: number): Promise<void> {
  const points = [...generateMemories({ count, dimensions, users: 7 })];
  for (let at = 0; at < points.length; at += 100) {
    await store.upsert(OLD, points.slice(at, at + 100), 'upsert');
  }
}

export async function repair({ settings }: CopyScene, change: Partial<ReconcileSettings> = {}) {
  return (await reconcile({ ...settings, ...change }, UNINTERRUPTED)).report;
}

/** Reconciles into a store that drops every repair, so that all differences are reported as pending. */
export async function compare(scene: CopyScene, change: Partial<ReconcileSettings> = {}) {
  const { store, collection } = scene.settings.to;
  const discard = async () => undefined;
  const discardingStore = { ...store, upsert: discard, deletePoints: discard };
  return await repair(scene, { to: { store: discardingStore, collection }, ...change });
}
