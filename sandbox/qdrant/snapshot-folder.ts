// Snapshot files on disk, one folder per collection. They outlive their collection, but without it no call can reach them.
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
  /** True to behave like object storage, with neither checksums nor ranges. */
  readonly isObjectStorage: boolean;
  readonly now: () => Date;
}

export type SnapshotFolder = ReturnType<typeof createSnapshotFolder>;

export function createSnapshotFolder(options: SnapshotFolderOptions) {
  const { folder, version, peerId, isObjectStorage, now } = options;

  /**
   * Creates a snapshot. The file is named after the second of the request, so two requests within a second produce one file.
   */
  async function create(name: string, collection: Collection) {
    const takenAt = now().toISOString().slice(0, 19);
    const file = `${name}-${peerId}-${takenAt.replace(/[T:]/g, '-')}.snapshot`;
    const part = await createPartPath();
    collection.busy += 1;
    try {
      const checksum = await writeSnapshotFile(part, { version, collection });
      await moveIntoPlace(name, file, part, checksum, takenAt);
    } finally {
      collection.busy -= 1;
    }
    return describe(name, file);
  }

  /** Writes the checksum of a finished file, then moves the file, so that every listed snapshot is complete. */
  async function moveIntoPlace(
    name: string,
    file: string,
    part: string,
    checksum: string,
    takenAt?: string,
  ) {
    await mkdir(folderOf(name), { recursive: true });
    const details = { checksum, creation_time: takenAt ?? now().toISOString().slice(0, 19) };
    await writeFile(join(folderOf(name), `${file}.json`), JSON.stringify(details));
    await rename(part, join(folderOf(name), file));
  }

  async function list(name: string): Promise<Schemas['SnapshotDescription'][]> {
    if (!existsSync(folderOf(name))) return [];
    const files = (await readdir(folderOf(name))).filter((file) => file.endsWith('.snapshot'));
    return Promise.all(files.sort().map((file) => describe(name, file)));
  }

  async function describe(name: string, file: string): Promise<Schemas['SnapshotDescription']> {
    const { size } = await stat(pathOf(name, file));
    const details = await readFile(join(folderOf(name), `${file}.json`), 'utf8');
    const description = { name: file, size, ...(JSON.parse(details) as { checksum: string }) };
    return isObjectStorage ? { ...description, checksum: null } : description;
  }

  async function remove(name: string, file: string): Promise<void> {
    const isKnown = (await list(name)).some((snapshot) => snapshot.name === file);
    if (!isKnown) throw notFound(`Snapshot ${file} not found`);
    await rm(pathOf(name, file));
    await rm(`${pathOf(name, file)}.json`);
  }

  /** Returns the path of a temporary file, which no call lists. */
  async function createPartPath(): Promise<string> {
    await mkdir(folder, { recursive: true });
    return join(folder, `${randomUUID()}.part`);
  }

  const folderOf = (name: string) => join(folder, encodeURIComponent(name));
  const pathOf = (name: string, file: string) => join(folderOf(name), file);

  return {
    create,
    moveIntoPlace,
    list,
    remove,
    createPartPath,
    pathOf,
    isObjectStorage,
  };
}
