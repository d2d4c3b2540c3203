// Artifacts in a folder. The record beside an artifact is written last: what has none was never put as a whole.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import * as v from 'valibot';
import {
  type Artifact,
  type ArtifactStore,
  assertAllReplaceable,
  assertArtifactKey,
  assertArtifactPrefix,
  assertReplaceable,
  longerRetention,
  measuring,
  missingArtifact,
} from '../ports/artifacts.ts';

// No key starts a part with a dot, so that these folders can hold no artifact.
const RECORDS = '.records';
const PARTIAL = '.partial';

const storedRecord = v.object({
  bytes: v.number(),
  sha256: v.string(),
  retainUntil: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.toDate())),
});

export function createFileArtifacts(options: {
  readonly folder: string;
  readonly now: () => Date;
}): ArtifactStore {
  const { folder, now } = options;
  const dataPath = (key: string) => join(folder, key);
  const recordPath = (key: string) => join(folder, RECORDS, `${key}.json`);
  const partialFolder = (key: string) => join(folder, PARTIAL, key);

  async function head(key: string): Promise<Artifact | undefined> {
    assertArtifactKey(key);
    const text = await orNothing(readFile(recordPath(key), 'utf8'));
    if (text === undefined) return undefined;
    const { retainUntil, ...measure } = v.parse(storedRecord, JSON.parse(text));
    const data = await orNothing(stat(dataPath(key)));
    return data?.size === measure.bytes ? { key, ...measure, retainUntil } : undefined;
  }

  async function required(key: string): Promise<Artifact> {
    const artifact = await head(key);
    if (!artifact) throw missingArtifact(key);
    return artifact;
  }

  async function record(artifact: Artifact): Promise<void> {
    const { key, bytes, sha256, retainUntil } = artifact;
    const partial = join(partialFolder(key), randomUUID());
    await writeDurably(partial, [Buffer.from(JSON.stringify({ bytes, sha256, retainUntil }))]);
    await moveDurably(partial, recordPath(key));
  }

  async function put(key: string, content: AsyncIterable<Uint8Array>): Promise<Artifact> {
    assertReplaceable(await head(key), now());
    await rm(partialFolder(key), { recursive: true, force: true });
    const partial = join(partialFolder(key), randomUUID());
    const measured = measuring(content);
    try {
      await writeDurably(partial, measured.content);
      // In this order: a record must never stand beside content that it does not describe.
      await rm(recordPath(key), { force: true });
      await moveDurably(partial, dataPath(key));
      const artifact = { key, ...measured.measure(), retainUntil: undefined };
      await record(artifact);
      return artifact;
    } finally {
      await rm(partialFolder(key), { recursive: true, force: true });
    }
  }

  async function* get(key: string) {
    await required(key);
    yield* createReadStream(dataPath(key));
  }

  async function* list(prefix: string) {
    for (const key of await recordedKeys(folder, prefix)) {
      const artifact = await head(key);
      if (artifact) yield artifact;
    }
  }

  async function retain(key: string, until: Date): Promise<void> {
    const artifact = await required(key);
    await record({ ...artifact, retainUntil: longerRetention(artifact, until) });
  }

  async function remove(key: string): Promise<void> {
    assertReplaceable(await head(key), now());
    await rm(recordPath(key), { force: true });
    await rm(dataPath(key), { force: true });
  }

  async function deleteAll(prefix: string): Promise<void> {
    assertArtifactPrefix(prefix);
    await assertAllReplaceable(list(prefix), now());
    for (const place of [join(folder, RECORDS), folder, join(folder, PARTIAL)]) {
      for (const file of await filesBelow(place, prefix)) await rm(join(place, file));
    }
  }

  return { put, head, get, list, retain, delete: remove, deleteAll };
}

// Of the folder itself, too: no prefix of a key begins as the two folders do.
async function filesBelow(place: string, prefix: string): Promise<string[]> {
  const entries = await orNothing(readdir(place, { recursive: true, withFileTypes: true }));
  const files = (entries ?? []).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(place, join(parentPath, name)));
  return paths.filter((path) => path.startsWith(prefix));
}

async function recordedKeys(folder: string, prefix: string): Promise<string[]> {
  const files = await filesBelow(join(folder, RECORDS), prefix);
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -5))
    .sort();
}

export async function writeDurably(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function moveDurably(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await rename(from, to);
  const folder = await open(dirname(to), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Undefined where there is no such file. */
export async function orNothing<Result>(pending: Promise<Result>): Promise<Result | undefined> {
  try {
    return await pending;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
