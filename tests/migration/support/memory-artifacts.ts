// An artifact store in memory, for a migration whose steps all run in this process.
import {
  type Artifact,
  type ArtifactStore,
  createArtifactStore,
} from '../../../lib/migration/ports/artifacts.ts';

interface StoredArtifact {
  readonly content: Buffer;
  /** Undefined until the put is complete. */
  readonly record?: Artifact;
}

/** Artifacts by key */
export type ArtifactsImage = ReadonlyMap<string, StoredArtifact>;

export function createMemoryArtifacts(now: () => Date, image: ArtifactsImage = new Map()) {
  const stored = new Map(image);
  const store: ArtifactStore = createArtifactStore(
    {
      find: async (key) => stored.get(key)?.record,
      async write(key, content) {
        stored.set(key, { content: Buffer.concat(await Array.fromAsync(content)) });
      },
      async record(record) {
        const content = stored.get(record.key)?.content;
        if (content) stored.set(record.key, { content, record });
      },
      async *read(key) {
        yield stored.get(key)?.content ?? Buffer.alloc(0);
      },
      async *listKeys(prefix) {
        yield* [...stored.keys()].filter((key) => key.startsWith(prefix)).sort();
      },
      async remove(key) {
        stored.delete(key);
      },
      async removeAll(prefix) {
        for (const key of stored.keys()) if (key.startsWith(prefix)) stored.delete(key);
      },
    },
    now,
  );
  return { store, stored, image: (): ArtifactsImage => new Map(stored) };
}
