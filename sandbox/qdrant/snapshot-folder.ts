// Snapshot files on disk, one folder per collection. They outlive the collection; only the calls lose sight of them.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Schemas } from '@qdrant/js-client-rest';
import type { Collection } from './collection.ts';
import { notFound } from './refusal.ts';
import { writeSnapshotFile } from './snapshot-file.ts';

interface SnapshotFolderOptions {
  readonly folder: string;
  readonly version: string;
  readonly peerId: string;
  /** Kept in object storage: there is no checksum, and ranges are not served. */
  readonly isElsewhere: boolean;
  readonly now: () => Date;
}

export type SnapshotFolder = ReturnType<typeof createSnapshotFolder>;

export function createSnapshotFolder(options: SnapshotFolderOptions) {
  const { folder, version, peerId, isElsewhere, now } = options;

  /** Named after the second of the request: two requests within a second make one file. */
  async function create(name: string, collection: Collection) {
    const taken = now().toISOString().slice(0, 19);
    const file = `${name}-${peerId}-${taken.replace(/[T:]/g, '-')}.snapshot`;
    const part = await newPart();
    collection.busy += 1;
    try {
      const checksum = await writeSnapshotFile(part, { version, collection });
      await adopt(name, file, part, checksum, taken);
    } finally {
      collection.busy -= 1;
    }
    return describe(name, file);
  }

  /** Moves a finished file into place, after its checksum: what is listed is complete. */
  async function adopt(name: string, file: string, part: string, checksum: string, taken?: string) {
    await mkdir(folderOf(name), { recursive: true });
    const facts = { checksum, creation_time: taken ?? now().toISOString().slice(0, 19) };
    await writeFile(join(folderOf(name), `${file}.json`), JSON.stringify(facts));
    await rename(part, join(folderOf(name), file));
  }

  async function list(name: string): Promise<Schemas['SnapshotDescription'][]> {
    if (!existsSync(folderOf(name))) return [];
    const files = (await readdir(folderOf(name))).filter((file) => file.endsWith('.snapshot'));
    return Promise.all(files.sort().map((file) => describe(name, file)));
  }

  async function describe(name: string, file: string): Promise<Schemas['SnapshotDescription']> {
    const { size } = await stat(pathOf(name, file));
    const facts = await readFile(join(folderOf(name), `${file}.json`), 'utf8');
    const description = { name: file, size, ...(JSON.parse(facts) as { checksum: string }) };
    return isElsewhere ? { ...description, checksum: null } : description;
  }

  async function remove(name: string, file: string): Promise<void> {
    const known = (await list(name)).some((snapshot) => snapshot.name === file);
    if (!known) throw notFound(`Snapshot ${file} not found`);
    await rm(pathOf(name, file));
    await rm(`${pathOf(name, file)}.json`);
  }

  /** A file to spool into, which no call lists. */
  async function newPart(): Promise<string> {
    await mkdir(folder, { recursive: true });
    return join(folder, `${randomUUID()}.part`);
  }

  const folderOf = (name: string) => join(folder, encodeURIComponent(name));
  const pathOf = (name: string, file: string) => join(folderOf(name), file);

  return { create, adopt, list, remove, newPart, pathOf, isElsewhere };
}
