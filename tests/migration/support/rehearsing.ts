// Runs npm run rehearse as a process, on services that a test names.
import { onTestFinished } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { readPages } from '../../../lib/migration/scan.ts';
import { startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';
import { seedMemories } from '../../../sandbox/readable-memories.ts';
import { type CommandResult, runCommand } from '../../shared/support/command.ts';
import { createAlias, NEW_LAYOUT, OLD_LAYOUT, waitForSnapshot } from './vector-stores.ts';

export const REHEARSE = 'sandbox/rehearsal/rehearse.ts';

type Environment = Readonly<Record<string, string>>;

export const rehearse = (
  args: readonly string[],
  environment?: Environment,
): Promise<CommandResult> => runCommand(REHEARSE, args, environment);

export interface SharedStore {
  readonly environment: Environment;
  readonly vectors: VectorStore;
  /** Reads everything that others keep in the store, down to the bytes. */
  contents(): Promise<unknown>;
}

/** Starts a store that others use as well, with collections of both layouts, an alias and a snapshot. */
export async function startSharedStore(): Promise<SharedStore> {
  const apiKey = 'key-of-the-store';
  const sandbox = await startQdrantSandbox({ apiKey });
  onTestFinished(sandbox.close);
  const vectors = createQdrant({ url: sandbox.url, apiKey });
  for (const [name, layout] of [
    ['memories', OLD_LAYOUT],
    ['memories_v3_rehearsal', NEW_LAYOUT],
    ['rehearsed', NEW_LAYOUT],
  ] as const) {
    await vectors.createCollection(name, { ...layout, vectors: { size: 8, distance: 'Cosine' } });
    await seedMemories(vectors, {
      collection: name,
      users: 5,
      memories: 40,
      dimensions: 8,
      seed: 9,
    });
  }
  await createAlias(sandbox.url, 'm', 'memories', apiKey);
  await vectors.startSnapshot('memories');
  await waitForSnapshot(vectors, 'memories');
  return {
    environment: { QDRANT_URL: sandbox.url, QDRANT_API_KEY: apiKey },
    vectors,
    contents: () => readContents(vectors),
  };
}

async function readContents(store: VectorStore) {
  const names = (await store.listCollections()).toSorted();
  const collections = names.map(async (collection) => ({
    info: await store.readCollectionInfo(collection),
    snapshots: await store.listSnapshots(collection),
    points: (await Array.fromAsync(readPages({ store, collection }, { limit: 100 }))).flatMap(
      ({ points }) => points,
    ),
  }));
  return {
    names,
    aliases: await store.listAliases(),
    collections: await Promise.all(collections),
  };
}
