// Snapshots are complete when they are listed; downloads can resume; uploads are checked, and create a collection with any name.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  createPoint,
  NEW_LAYOUT,
  onEveryVectorStore,
  waitForSnapshot,
} from '../../support/vector-stores.ts';

onEveryVectorStore((subject) => {
  test('a listed snapshot is complete, as its checksum shows', async () => {
    const { collection, snapshot } = await createFilled();
    const file = await subject.store.downloadSnapshot(collection, snapshot.name);
    const bytes = Buffer.concat(await Array.fromAsync(file.bytes));
    expect([file.totalBytes, bytes.length]).toEqual([snapshot.size, snapshot.size]);
    expect(sha256(bytes)).toBe(snapshot.checksum);
  });

  test('a download can resume where it stopped', async () => {
    const { collection, snapshot } = await createFilled();
    const file = await download(collection, snapshot.name);
    const part = await subject.store.downloadSnapshot(collection, snapshot.name, 100);
    expect(part.totalBytes).toBe(file.length);
    expect(Buffer.concat(await Array.fromAsync(part.bytes))).toEqual(file.subarray(100));
  });

  test('an upload creates a collection from the settings in the file', async () => {
    const { collection, snapshot } = await createFilled();
    const restored = await subject.collection('not-created');
    await upload(restored, await download(collection, snapshot.name));
    await waitUntilRestored(restored);
    const info = await subject.store.readCollectionInfo(restored);
    expect(info?.config.params.sparse_vectors?.bm25?.modifier).toBe('idf');
    expect(info?.payload_schema.user_id?.data_type).toBe('keyword');
    expect(await readPoints(restored)).toEqual(await readPoints(collection));
  });

  test('an upload over an existing collection replaces its points', async () => {
    const { collection, snapshot } = await createFilled();
    const bytes = await download(collection, snapshot.name);
    await subject.store.upsert(collection, [createPoint(77, '{}')], 'upsert');
    await upload(collection, bytes);
    await waitUntilRestored(collection);
  });

  test('a file that does not match its checksum creates no collection', async () => {
    const { collection, snapshot } = await createFilled();
    const restored = await subject.collection('not-created');
    const bytes = await download(collection, snapshot.name);
    // Some versions refuse the upload, others accept it and report nothing.
    const code = await upload(restored, bytes, 'f'.repeat(64)).catch(({ code }) => code);
    expect([undefined, 400]).toContain(code);
    const intact = await subject.collection('not-created');
    await upload(intact, bytes);
    await waitUntilRestored(intact);
    expect(await subject.store.countRestoredPoints(restored)).toBeUndefined();
  });

  test('the name of a snapshot contains the second of its request', async () => {
    const { requestedAt = 0, snapshot } = await createFilled();
    const [, day, ...time] =
      /-(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)\.snapshot$/.exec(snapshot.name) ?? [];
    const namedTime = Date.parse(`${day}T${time.join(':')}Z`);
    expect(Math.abs(namedTime - requestedAt)).toBeLessThanOrEqual(1_000);
  });

  test('a snapshot can be deleted', async () => {
    const { collection, snapshot } = await createFilled();
    await subject.store.deleteSnapshot(collection, snapshot.name);
    expect(await subject.store.listSnapshots(collection)).toEqual([]);
  });

  async function createFilled() {
    const { store } = subject;
    const collection = await subject.collection(NEW_LAYOUT);
    await store.createPayloadIndex(collection, { field_name: 'user_id', field_schema: 'keyword' });
    const slot = '{"":[0,1,0,0],"bm25":{"indices":[5],"values":[0.25]}}';
    const points = [createPoint(1, '{"user_id":"a","n":10.0}'), createPoint(2, TWO_LINES, slot)];
    await store.upsert(collection, points, 'upsert');
    const requestedAt = await store.startSnapshot(collection);
    return { collection, requestedAt, snapshot: await waitForSnapshot(store, collection) };
  }

  async function readPoints(collection: string) {
    const { points } = await subject.store.scroll(collection, { limit: 9 });
    return points.map((point) => ({ ...point, vector: JSON.parse(point.vector ?? '') }));
  }

  /** Waits for the restore, which continues after the response to the upload. */
  async function waitUntilRestored(collection: string): Promise<void> {
    await expect.poll(() => subject.store.countRestoredPoints(collection), POLLING).toBe(2);
  }

  async function download(collection: string, name: string): Promise<Buffer> {
    const { bytes } = await subject.store.downloadSnapshot(collection, name);
    return Buffer.concat(await Array.fromAsync(bytes));
  }

  async function upload(collection: string, bytes: Buffer, checksum = sha256(bytes)) {
    const upload = { fileName: 'backup.snapshot', size: bytes.length, checksum };
    await subject.store.uploadSnapshot(collection, { ...upload, bytes: inChunks(bytes) });
  }
});

// Some programs treat U+2028 as the end of a line. In a payload it is an ordinary character, and must not end a record.
const TWO_LINES = '{"user_id":"b","data":"one\u2028two"}';

const POLLING = { interval: 50 };

async function* inChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 64) yield bytes.subarray(start, start + 64);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
