// Handles the calls on snapshots. A snapshot is created in the background without `wait`, listed once complete, downloaded in
// ranges, and uploaded as a collection.
import { rm, stat } from 'node:fs/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import { ACCEPTED, type Call, FileResult, readFlag, readParameter } from './call.ts';
import type { Collection } from './collection.ts';
import { saveFormFile } from './multipart.ts';
import { badRequest, internal, invalid, Refusal } from './refusal.ts';
import { readSnapshotHead, restorePoints, type SnapshotHead } from './snapshot-file.ts';
import type { SandboxState } from './state.ts';
import { compareVersions } from './versions.ts';

export function createSnapshotCalls({ registry, snapshots, version, background }: SandboxState) {
  async function create(call: Call) {
    const name = registry.resolveName(readParameter(call, 'collection'));
    const creation = snapshots.create(name, registry.get(name));
    if (readFlag(call, 'wait', true)) return creation;
    background.track(creation);
    return ACCEPTED;
  }

  async function list(call: Call): Promise<Schemas['SnapshotDescription'][]> {
    return snapshots.list(resolveCollection(call));
  }

  async function download(call: Call): Promise<FileResult> {
    const file = snapshots.pathOf(resolveCollection(call), readParameter(call, 'snapshot'));
    const size = await stat(file).then(
      (stats) => stats.size,
      () => undefined,
    );
    if (size === undefined) throw new Refusal(404, 'Snapshot file not found', { plain: true });
    return new FileResult(file, size, snapshots.isObjectStorage);
  }

  async function remove(call: Call) {
    const removal = snapshots.remove(resolveCollection(call), readParameter(call, 'snapshot'));
    if (readFlag(call, 'wait', true)) return removal.then(() => true);
    background.track(removal);
    return ACCEPTED;
  }

  // Follows Qdrant's order: save the form, check the checksum, move the file into place, create the collection, restore the
  // points. If the restore fails, the collection remains, marked as failed.
  async function upload(call: Call) {
    const expected = call.query.get('checksum');
    if (expected !== null && expected.length !== 64) throw invalid('checksum', 'must be 64 long');
    const name = registry.resolveName(readParameter(call, 'collection'));
    const saving = saveUpload(call, name, expected);
    // Continues after the client disconnects, so that a partial file is removed.
    background.track(saving);
    const fileName = await saving;
    const restoring = restore(name, snapshots.pathOf(name, fileName));
    if (readFlag(call, 'wait', true)) return restoring;
    background.track(restoring);
    return ACCEPTED;
  }

  /** @returns the name of the stored file */
  async function saveUpload(
    { incoming }: Call,
    name: string,
    expected: string | null,
  ): Promise<string> {
    const part = await snapshots.createPartPath();
    const { fileName, checksum } = await saveFormFile(incoming, 'snapshot', part);
    if (expected !== null && expected !== checksum) {
      await rm(part);
      throw badRequest(`Snapshot checksum mismatch: expected ${expected}, got ${checksum}`);
    }
    await snapshots.moveIntoPlace(name, fileName, part, checksum);
    return fileName;
  }

  async function restore(name: string, file: string): Promise<boolean> {
    const head = await readSnapshotHead(file);
    const collection = registry.has(name)
      ? clearForOverwrite(registry.get(name), head)
      : registry.create(name, head.settings);
    for (const [field, type] of head.indexes) collection.indexes.set(field, type);
    try {
      if (compareVersions(head.version, version) > 0) {
        throw internal(`Data version ${head.version} is newer than application version ${version}`);
      }
      // The shards of such a snapshot have keys. A collection created from it has no shard keys, and so receives no points.
      if (head.settings.sharding_method === 'custom') return true;
      await restorePoints(file, version, collection);
      return true;
    } catch (error) {
      collection.failed = true;
      throw error;
    }
  }

  function resolveCollection(call: Call): string {
    const name = readParameter(call, 'collection');
    registry.get(name);
    return registry.resolveName(name);
  }

  return { create, list, download, remove, upload };
}

// Like Qdrant, compares dense vectors and shards but not sparse vectors, so a keyword slot can get lost here.
function clearForOverwrite(collection: Collection, { settings }: SnapshotHead): Collection {
  const { vectors, shard_number } = collection.params;
  if (
    JSON.stringify(vectors) !== JSON.stringify(settings.vectors) ||
    shard_number !== settings.shard_number
  ) {
    throw badRequest('Snapshot is not compatible with existing collection');
  }
  collection.points.clear();
  return collection;
}
