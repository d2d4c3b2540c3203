// An artifact store in memory, for a migration whose steps all run in this process.
import {
  type Artifact,
  type ArtifactStore,
  createArtifactStore,
} from '../../../lib/migration/ports/artifacts.ts';

interface Held {
  readonly content: Buffer;
  /** Undefined until the put is complete. */
  readonly record?: Artifact;
}

/** Artifacts by key */
export type ArtifactsImage = ReadonlyMap<string, Held>;

export function createMemoryArtifacts(now: () => Date, image: ArtifactsImage = new Map()) {
  const held = new Map(image);
  const store: ArtifactStore = createArtifactStore(
    {
      find: async (key) => held.get(key)?.record,
      async write(key, content) {
        held.set(key, { content: Buffer.concat(await Array.fromAsync(content)) });
      },
      async record(record) {
        const content = held.get(record.key)?.content;
        if (content) held.set(record.key, { content, record });
      },
      async *read(key) {
        yield held.get(key)?.content ?? Buffer.alloc(0);
      },
      async *listKeys(prefix) {
        yield* [...held.keys()].filter((key) => key.startsWith(prefix)).sort();
      },
      async remove(key) {
        held.delete(key);
      },
      async removeAll(prefix) {
        for (const key of held.keys()) if (key.startsWith(prefix)) held.delete(key);
      },
    },
    now,
  );
  return { store, held, image: (): ArtifactsImage => new Map(held) };
}
