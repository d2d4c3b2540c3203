// Artifacts in a folder that other users of the machine cannot read. The record of an artifact is written last: a file without a
// record is incomplete.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import * as v from 'valibot';
import {
  type Artifact,
  type ArtifactStore,
  type Content,
  createArtifactStore,
} from '../ports/artifacts.ts';
import { recoverWith } from '../refusals.ts';

// No part of a key starts with a dot, so these folders contain no artifacts.
const RECORDS = '.records';
const PARTIAL = '.partial';

// Artifacts contain users' memories.
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

const recordSchema = v.object({
  bytes: v.number(),
  sha256: v.string(),
  retainUntil: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.toDate())),
});

export function createFileArtifacts(options: {
  readonly folder: string;
  readonly now: () => Date;
}): ArtifactStore {
  const { folder, now } = options;
  const getDataPath = (key: string) => join(folder, key);
  const getRecordPath = (key: string) => join(folder, RECORDS, `${key}.json`);
  const getPartialFolder = (key: string) => join(folder, PARTIAL, key);

  let accessRestriction: Promise<void> | undefined;

  // An earlier release created artifacts that other users can read. Only artifacts are restricted: the folder may have other files.
  async function restrictAccess(): Promise<void> {
    const records = (await undefinedIfMissing(readdir(join(folder, RECORDS)))) ?? [];
    const names = records.map((name) => name.replace(/\.json$/, ''));
    for (const path of [RECORDS, ...names].map((name) => join(folder, name))) {
      const info = await undefinedIfMissing(stat(path));
      if (info) await chmod(path, info.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE);
    }
  }

  async function find(key: string): Promise<Artifact | undefined> {
    const text = await undefinedIfMissing(readFile(getRecordPath(key), 'utf8'));
    if (text === undefined) return undefined;
    const { retainUntil, ...measure } = v.parse(recordSchema, JSON.parse(text));
    const data = await undefinedIfMissing(stat(getDataPath(key)));
    return data?.size === measure.bytes ? { key, ...measure, retainUntil } : undefined;
  }

  async function moveIntoPlace(key: string, content: Content, path: string): Promise<void> {
    await rm(getPartialFolder(key), { recursive: true, force: true });
    const partial = join(getPartialFolder(key), randomUUID());
    try {
      await writeDurably(partial, content, PRIVATE_FILE);
      // The earlier record is removed first: it must never describe the new content.
      if (path === getDataPath(key)) await rm(getRecordPath(key), { force: true });
      await moveDurably(partial, path);
    } finally {
      await rm(getPartialFolder(key), { recursive: true, force: true });
    }
  }

  async function record({ key, ...fields }: Artifact): Promise<void> {
    await moveIntoPlace(key, [Buffer.from(JSON.stringify(fields))], getRecordPath(key));
  }

  async function* listKeys(prefix: string) {
    const files = await listFiles(join(folder, RECORDS), prefix);
    const records = files.filter((file) => file.endsWith('.json'));
    yield* records.map((file) => file.slice(0, -'.json'.length)).sort();
  }

  async function remove(key: string): Promise<void> {
    await rm(getRecordPath(key), { force: true });
    await rm(getDataPath(key), { force: true });
  }

  async function removeAll(prefix: string): Promise<void> {
    for (const root of [join(folder, RECORDS), folder, join(folder, PARTIAL)]) {
      for (const file of await listFiles(root, prefix)) await rm(join(root, file));
    }
  }

  async function write(key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    accessRestriction ??= restrictAccess();
    await accessRestriction;
    await moveIntoPlace(key, content, getDataPath(key));
  }

  const read = (key: string) => createReadStream(getDataPath(key));
  return createArtifactStore({ find, write, record, read, listKeys, remove, removeAll }, now);
}

// Records and unfinished writes are listed only from their own folders: a prefix of keys never starts with a dot.
async function listFiles(root: string, prefix: string): Promise<string[]> {
  const entries = await undefinedIfMissing(readdir(root, { recursive: true, withFileTypes: true }));
  const files = (entries ?? []).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(root, join(parentPath, name)));
  return paths.filter((path) => path.startsWith(prefix));
}

export async function writeDurably(path: string, content: Content, mode = 0o666): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  await writeFile(path, content, { flag: 'wx', flush: true, mode });
}

async function moveDurably(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: PRIVATE_FOLDER });
  await rename(from, to);
  await using folder = await open(dirname(to), 'r');
  await folder.sync();
}

/** @returns undefined if the file does not exist */
export async function undefinedIfMissing<Result>(
  pending: Promise<Result>,
): Promise<Result | undefined> {
  return await pending.catch(recoverWith(undefined, hasCode('ENOENT')));
}

export function hasCode(code: string) {
  return (error: unknown): boolean => (error as NodeJS.ErrnoException).code === code;
}
