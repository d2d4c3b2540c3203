// A sandbox with an old collection full of memories and an empty new one: where copies are tried.
import { createQdrant } from '../../lib/migration/adapters/qdrant.ts';
import { type CopySettings, copyPoints } from '../../lib/migration/copy/copy.ts';
import type { VectorStore } from '../../lib/migration/ports/vector-store.ts';
import { verifyCopy } from '../../lib/migration/proof/verification.ts';
import { memories } from '../../local/sandbox/awkward-memories.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../local/sandbox/qdrant/server.ts';

export interface CopyScene {
  readonly sandbox: QdrantSandbox;
  readonly store: VectorStore;
  readonly settings: CopySettings;
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
  const store = createQdrant({ url: sandbox.url });
  await store.createCollection(OLD, { vectors: { size: dimensions, distance: 'Cosine' } });
  await store.createPayloadIndex(OLD, { field_name: 'user_id', field_schema: 'keyword' });
  await createTarget(store, dimensions);
  await fill(store, count, dimensions);
  return {
    sandbox,
    store,
    settings: {
      source: { store, collection: OLD },
      target: { store, collection: NEW },
      pageSize,
      insertMode: 'by-store',
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
  const points = [...memories({ count, dimensions, users: 7 })];
  for (let at = 0; at < points.length; at += 100) {
    await store.upsert(OLD, points.slice(at, at + 100), 'upsert');
  }
}

/** Ports that forget. */
export const FORGETFUL = { saveCheckpoint: async () => undefined };

export function copyAll({ settings }: CopyScene) {
  return copyPoints(settings, FORGETFUL);
}

export async function verifyScene({ settings }: CopyScene, acceptedKeywordGaps = 0) {
  const { source, target, pageSize } = settings;
  const outcome = await verifyCopy(
    { source, target, pageSize, vectors: 'all', acceptedKeywordGaps },
    FORGETFUL,
  );
  if (!outcome.report) throw new Error('a verification that is not stopped has a report');
  return outcome.report;
}
