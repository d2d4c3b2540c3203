// Handles the calls on snapshots. A snapshot is created in the background without `wait`, listed once complete, downloaded in
// ranges, and uploaded as a collection.
import { rm, stat } from 'node:fs/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import type { Collection } from './collection.ts';
import { ACCEPTED, type Exchange, FileResult, isTrue, readName } from './exchange.ts';
import { saveFormFile } from './multipart.ts';
import { badRequest, internal, invalid, Refusal } from './refusal.ts';
import { readSnapshotHead, restorePoints, type SnapshotHead } from './snapshot-file.ts';
import type { SandboxState } from './state.ts';
import { compareVersions } from './versions.ts';

export function createSnapshotCalls({ registry, snapshots, version, background }: SandboxState) {
  async function create(exchange: Exchange) {
    const name = registry.resolveName(readName(exchange, 'collection'));
    const creation = snapshots.create(name, registry.get(name));
    if (isTrue(exchange, 'wait', true)) return creation;
    background.start(creation);
    return ACCEPTED;
  }

  async function list(exchange: Exchange): Promise<Schemas['SnapshotDescription'][]> {
    return snapshots.list(resolveCollection(exchange));
  }

  async function download(exchange: Exchange): Promise<FileResult> {
    const file = snapshots.pathOf(resolveCollection(exchange), readName(exchange, 'snapshot'));
    const size = await stat(file).then(
      (stats) => stats.size,
      () => undefined,
    );
    if (size === undefined) throw new Refusal(404, 'Snapshot file not found', { plain: true });
    return new FileResult(file, size, snapshots.isElsewhere);
  }

  async function remove(exchange: Exchange) {
    const removal = snapshots.remove(resolveCollection(exchange), readName(exchange, 'snapshot'));
    if (isTrue(exchange, 'wait', true)) return removal.then(() => true);
    background.start(removal);
    return ACCEPTED;
  }

  // Works in Qdrant's order: spool, checksum, file into place, collection, points. A failure after the collection was created
  // leaves the collection, marked as failed.
  async function upload(exchange: Exchange) {
    const expected = exchange.query.get('checksum');
    if (expected !== null && expected.length !== 64) throw invalid('checksum', 'must be 64 long');
    const name = registry.resolveName(readName(exchange, 'collection'));
    const saving = saveUpload(exchange, name, expected);
    // Continues after the client disconnects, so that a partial file is removed.
    background.start(saving);
    const fileName = await saving;
    const recovery = recover(name, snapshots.pathOf(name, fileName));
    if (isTrue(exchange, 'wait', true)) return recovery;
    background.start(recovery);
    return ACCEPTED;
  }

  /** @returns the name of the stored file */
  async function saveUpload(
    { incoming }: Exchange,
    name: string,
    expected: string | null,
  ): Promise<string> {
    const part = await snapshots.createPart();
    const { fileName, checksum } = await saveFormFile(incoming, 'snapshot', part);
    if (expected !== null && expected !== checksum) {
      await rm(part);
      throw badRequest(`Snapshot checksum mismatch: expected ${expected}, got ${checksum}`);
    }
    await snapshots.moveIntoPlace(name, fileName, part, checksum);
    return fileName;
  }

  async function recover(name: string, file: string): Promise<boolean> {
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

  function resolveCollection(exchange: Exchange): string {
    const name = readName(exchange, 'collection');
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
