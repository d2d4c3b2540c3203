// Starts every service that a migration uses on one machine: stores, both versions of the backend, the setting and the
// artifacts.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFileArtifacts } from '../lib/migration/adapters/file-artifacts.ts';
import { createFileCollectionSetting } from '../lib/migration/adapters/file-collection-setting.ts';
import { createHttpMemoryBackend } from '../lib/migration/adapters/http-memory-backend.ts';
import type { QdrantConnection } from '../lib/migration/adapters/qdrant/transport.ts';
import { createQdrant } from '../lib/migration/adapters/qdrant.ts';
import { createSecret } from '../lib/migration/adapters/secrets.ts';
import type { ArtifactStore } from '../lib/migration/ports/artifacts.ts';
import type { HookRequest } from '../lib/migration/ports/hooks.ts';
import { testUserOf } from '../lib/migration/runs/run-names.ts';
import type { Services } from '../lib/migration/services.ts';
import type { LogEntry } from '../lib/shared/log.ts';
import { createSandboxGraph, type SandboxGraph } from './graph.ts';
import { createLazyVersion } from './memory-backend/lazy-version.ts';
import { type Shortcomings, startNewVersion } from './memory-backend/new-version.ts';
import { startOldVersion } from './memory-backend/old-version.ts';
import {
  type MemoryBackendOptions,
  type MemoryBackendSandbox,
  startMemoryBackendSandbox,
} from './memory-backend/server.ts';
import { createOperator, type Operator } from './operator.ts';
import {
  type QdrantImage,
  type QdrantSandbox,
  type QdrantSandboxOptions,
  startQdrantSandbox,
} from './qdrant/server.ts';
import { seedMemories } from './readable-memories.ts';

export const SOURCE = 'memories';

const TEST_USER_KEY = 'key-of-the-test-user';

export interface World {
  readonly services: Services;
  readonly graph: SandboxGraph;
  readonly backend: MemoryBackendSandbox;
  readonly operator: Operator;
  /** Log entries so far. */
  readonly logged: readonly LogEntry[];
  /**
   * Environment variables that tell another process where the services are. The graph, the hooks and artifacts in memory are
   * missing, because only this process can reach them.
   */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface SandboxWorld extends World {
  readonly qdrant: QdrantSandbox;
  image(): Promise<WorldImage>;
}

/** The state of a world, from which another world can start. It excludes the artifacts, and the graph, which never changes. */
export interface WorldImage {
  readonly qdrant: QdrantImage;
  readonly setting: string;
  /** Requests to the operator; repeating them restores the state of the backend. */
  readonly requests: readonly HookRequest[];
}

export interface WorldOptions {
  readonly runId: string;
  /** Options of the memory backend that users call. */
  readonly backend?: MemoryBackendOptions;
  /** Options of the Qdrant sandbox. */
  readonly qdrant?: Omit<QdrantSandboxOptions, 'now' | 'apiKey'>;
  /** The old version's collection. */
  readonly source?: string;
  readonly records: Pick<Services, 'clock' | 'runs' | 'lock'>;
  readonly users?: number;
  readonly memories?: number;
  readonly dimensions?: number;
  /** Datatype of the vectors in the old collection; 32-bit floats by default. */
  readonly datatype?: 'float16' | 'uint8';
  /** True, the default, if the new version can be reached before the cutover. */
  readonly hasPreview?: boolean;
  /** True if the preview works on the collection from which an in-place run copies the settings. */
  readonly isInPlace?: boolean;
  /** True if the backend runs the new version on the old collection before the run begins. */
  readonly isUpgraded?: boolean;
  /** True, the default, if there is a graph store. */
  readonly hasGraph?: boolean;
  /** Faults of the new version, both before and after the cutover. */
  readonly shortcomings?: Shortcomings;
  readonly forgetsToFreeze?: boolean;
  readonly snapshotPartBytes?: number;
  /** Artifacts in a folder by default. */
  readonly artifacts?: ArtifactStore;
  /**
   * True if the services call the store and the backend in this process. By default they call them over HTTP. Snapshot uploads
   * always use HTTP.
   */
  readonly isInProcess?: boolean;
  /** State of another world with the same options; without an image, the world is new. */
  readonly image?: WorldImage | undefined;
}

export async function startSandboxWorld(options: WorldOptions): Promise<SandboxWorld> {
  const qdrant = await startQdrantSandbox({
    now: options.records.clock,
    image: options.image?.qdrant,
    ...options.qdrant,
  });
  const { url, fetch } = qdrant;
  const world = await startWorldOn(options.isInProcess ? { url, fetch } : { url }, options);
  return {
    ...world,
    qdrant,
    image: async () => ({
      qdrant: await qdrant.image(),
      setting: await world.services.setting.read(),
      requests: [...world.operator.requests],
    }),
    async close() {
      await world.close();
      await qdrant.close();
    },
  };
}

/** Starts everything except the vector store, which already exists and outlives this world. */
export async function startWorldOn(store: QdrantConnection, options: WorldOptions): Promise<World> {
  const {
    runId,
    records,
    source = SOURCE,
    users = 7,
    memories = 60,
    dimensions = 8,
    shortcomings = {},
    image,
  } = options;
  const folder = await mkdtemp(join(tmpdir(), 'migration-world-'));
  const vectors = createQdrant(store);
  const settings = { store: vectors, dimensions, now: records.clock };
  const backend = await startMemoryBackendSandbox(options.backend);
  const preview = await startMemoryBackendSandbox();
  const settingFile = join(folder, 'collection');
  const artifactsFolder = join(folder, 'artifacts');
  await writeFile(settingFile, image?.setting ?? source);
  const sourceSettings = { ...settings, collection: source };
  const startOld = () =>
    options.isUpgraded
      ? startNewVersion({ ...sourceSettings, shortcomings })
      : startOldVersion(sourceSettings);
  if (options.datatype && !image) {
    const layout = { size: dimensions, distance: 'Cosine', datatype: options.datatype } as const;
    await vectors.createCollection(source, { vectors: layout });
  }
  if (options.isUpgraded && !image) await startOldVersion(sourceSettings);
  // An image may lack the old collection because it was deleted; starting the old version at once would create it again.
  backend.deploy(image ? createLazyVersion(startOld) : await startOld());
  const target = `${source}_${options.isInPlace ? 'preview' : 'v3'}_${runId}`;
  preview.deploy(
    createLazyVersion(() => startNewVersion({ ...settings, collection: target, shortcomings })),
  );
  for (const server of [backend, preview]) server.grant(TEST_USER_KEY, testUserOf(runId));
  if (!image)
    await seedMemories(vectors, { collection: source, users, memories, dimensions, seed: 1 });
  const graph = createSandboxGraph();
  seedGraph(graph);
  const { forgetsToFreeze = false } = options;
  const operator = createOperator({ backend, settings, shortcomings, forgetsToFreeze });
  for (const request of image?.requests ?? []) await operator.hooks.ask(request);
  const logged: LogEntry[] = [];
  const services: Services = {
    ...records,
    vectors,
    artifacts:
      options.artifacts ?? createFileArtifacts({ folder: artifactsFolder, now: records.clock }),
    setting: createFileCollectionSetting(settingFile),
    backend: connectBackend(backend, options),
    preview: options.hasPreview === false ? undefined : connectBackend(preview, options),
    hooks: operator.hooks,
    graph: options.hasGraph === false ? undefined : graph,
    snapshotPartBytes: options.snapshotPartBytes ?? 16 * 1024,
    log: (entry) => logged.push(entry),
  };
  return {
    services,
    graph,
    backend,
    operator,
    logged,
    environment: {
      QDRANT_URL: store.url,
      ...(store.apiKey ? { QDRANT_API_KEY: store.apiKey } : {}),
      MEMORY_BACKEND_URL: backend.url,
      MEMORY_PREVIEW_URL: preview.url,
      MEMORY_BACKEND_KEY: TEST_USER_KEY,
      COLLECTION_SETTING: pathToFileURL(settingFile).href,
      ARTIFACTS_URL: pathToFileURL(artifactsFolder).href,
    },
    async close() {
      for (const server of [backend, preview]) await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function connectBackend({ url, fetch }: MemoryBackendSandbox, { isInProcess }: WorldOptions) {
  const connection = { url, apiKey: createSecret(TEST_USER_KEY), timeoutMs: 10_000 };
  return createHttpMemoryBackend(isInProcess ? { ...connection, fetch } : connection);
}

function seedGraph(graph: SandboxGraph): void {
  const properties = (name: string) => ({ name, user_id: 'user-1', mentions: { $int: '1' } });
  const start = graph.addNode({ labels: ['person'], properties: properties('ada') });
  const end = graph.addNode({ labels: ['city'], properties: properties('london') });
  graph.addRelationship({ type: 'lives_in', start, end, properties: { valid: true } });
}
