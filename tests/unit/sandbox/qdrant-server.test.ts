import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import {
  type QdrantSandbox,
  type QdrantSandboxOptions,
  startQdrantSandbox,
} from '../../../sandbox/qdrant/server.ts';
import {
  createAlias,
  NEW_LAYOUT,
  OLD_LAYOUT,
  point,
  untilSnapshot,
} from '../../support/vector-stores.ts';

let sandbox: QdrantSandbox;
let store: VectorStore;

async function start(options: QdrantSandboxOptions = {}): Promise<void> {
  await sandbox?.close();
  sandbox = await startQdrantSandbox(options);
  store = createQdrant({ url: sandbox.url, apiKey: options.apiKey });
}

beforeEach(() => start());
afterEach(() => sandbox.close());

const call = (path: string, init: RequestInit = {}) => fetch(`${sandbox.url}${path}`, init);
const send = (method: string, path: string, body: unknown) =>
  call(path, { method, body: JSON.stringify(body) });

test('a key that may only read is refused wherever something would change', async () => {
  await start({ apiKey: 'secret', readOnlyKey: 'look' });
  await store.createCollection('m', NEW_LAYOUT);
  const reading = createQdrant({ url: sandbox.url, apiKey: 'look' });
  expect(await reading.count('m')).toBe(0);
  expect(await reading.scroll('m', { limit: 1 })).toMatchObject({ points: [] });
  expect(await reading.listSnapshots('m')).toEqual([]);
  const denied = expect.objectContaining({ name: 'RefusedCredentials' });
  for (const change of [
    () => reading.upsert('m', [point(1, '{}')], 'upsert'),
    () => reading.deletePoints('m', { ids: [] }),
    () => reading.createCollection('n', NEW_LAYOUT),
    () => reading.deleteCollection('m'),
    () => reading.startSnapshot('m'),
  ]) {
    await expect(change()).rejects.toEqual(denied);
  }
  const headers = { 'api-key': 'look' };
  const reply = await call('/collections/m', { method: 'DELETE', headers });
  const error = 'Forbidden: Global manage access is required';
  expect(await reply.json()).toMatchObject({ status: { error } });
});

describe('an older version', () => {
  test('before 1.17 knows no insert_only and overwrites', async () => {
    await start({ version: '1.16.3' });
    await store.createCollection('m', OLD_LAYOUT);
    await store.upsert('m', [point(1, '{"v":"newer"}')], 'upsert');
    await store.upsert('m', [point(1, '{"v":"older"}')], 'insert_only');
    expect((await store.scroll('m', { limit: 1 })).points[0]?.payload).toBe('{"v":"older"}');
  });

  test('before 1.15.3 makes no keyword vectors', async () => {
    await start({ version: '1.15.2' });
    await store.createCollection('m', NEW_LAYOUT);
    expect(await store.encodesKeywords('m', 'bm25')).toBe(false);
  });
});

describe('strict mode', () => {
  test.each([
    ['limits', { max_query_limit: 5 }, () => store.scroll('m', { limit: 6 })],
    ['exact counts', { search_allow_exact: false }, () => store.count('m')],
    [
      'filters on keys without an index',
      { unindexed_filtering_retrieve: false },
      () => store.scroll('m', { limit: 1, filter: { must: [{ is_empty: { key: 'x' } }] } }),
    ],
    [
      'deletions by keys without an index',
      { unindexed_filtering_update: false },
      () => store.deletePoints('m', { filter: { must: [{ is_empty: { key: 'x' } }] } }),
    ],
    [
      'batches',
      { upsert_max_batchsize: 1 },
      () => store.upsert('m', [point(1, '{}'), point(2, '{}')], 'upsert'),
    ],
  ])('forbids %s when told to', async (_, rule, forbidden) => {
    await store.createCollection('m', { ...OLD_LAYOUT, strict_mode_config: rule });
    await forbidden();
    await store.deleteCollection('m');
    const strict = { ...OLD_LAYOUT, strict_mode_config: { enabled: true, ...rule } };
    await store.createCollection('m', strict);
    await expect(forbidden()).rejects.toThrow(/Strict mode/);
  });
});

describe('snapshots', () => {
  const bytesOf = async (name: string, snapshot: string) =>
    Buffer.concat(await Array.fromAsync((await store.downloadSnapshot(name, snapshot)).bytes));

  async function filled(): Promise<Buffer> {
    await store.createCollection('m', OLD_LAYOUT);
    await store.upsert('m', [point(1, '{}'), point(2, '{}')], 'upsert');
    await store.startSnapshot('m');
    return bytesOf('m', (await untilSnapshot(store, 'm')).name);
  }

  async function upload(collection: string, bytes: Uint8Array): Promise<Response> {
    const form = new FormData();
    form.append('snapshot', new Blob([Buffer.from(bytes)]), 'a.snapshot');
    const path = `/collections/${collection}/snapshots/upload?priority=snapshot`;
    return call(path, { method: 'POST', body: form });
  }

  test('of one second collide', async () => {
    await start({ now: () => new Date('2026-08-04T10:49:10.500Z') });
    await filled();
    await store.startSnapshot('m');
    const [only, ...others] = await store.listSnapshots('m');
    expect(only?.name).toMatch(/^m-\d+-2026-08-04-10-49-10\.snapshot$/);
    expect(only?.creation_time).toBe('2026-08-04T10:49:10');
    expect(others).toEqual([]);
  });

  test('are out of reach once their collection is gone', async () => {
    await filled();
    await store.deleteCollection('m');
    await expect(store.listSnapshots('m')).rejects.toMatchObject({ answer: 404 });
  });

  test('are deleted in the background when nobody waits', async () => {
    await filled();
    const [snapshot] = await store.listSnapshots('m');
    const path = `/collections/m/snapshots/${snapshot?.name}?wait=false`;
    const reply = await call(path, { method: 'DELETE' });
    expect([reply.status, await reply.json()]).toMatchObject([202, { status: 'accepted' }]);
  });

  test('kept in object storage have no checksum, length or ranges, and can be resumed', async () => {
    await start({ keepsSnapshotsElsewhere: true });
    const bytes = await filled();
    const [snapshot] = await store.listSnapshots('m');
    expect(snapshot).toMatchObject({ checksum: null, size: bytes.length });
    const headers = { range: 'bytes=10-' };
    const reply = await call(`/collections/m/snapshots/${snapshot?.name}`, { headers });
    await reply.arrayBuffer();
    expect([reply.status, reply.headers.get('content-length')]).toEqual([200, null]);
    const part = await store.downloadSnapshot('m', snapshot?.name ?? '', 100);
    expect(part.totalBytes).toBeUndefined();
    expect(Buffer.concat(await Array.fromAsync(part.bytes))).toEqual(bytes.subarray(100));
  });

  test('of a damaged file leave a red collection behind', async () => {
    const bytes = await filled();
    const reply = await upload('debris', bytes.subarray(0, bytes.length - 20));
    expect(reply.status).toBe(500);
    expect((await store.collectionInfo('debris'))?.status).toBe('red');
  });

  test('of a newer version are refused after the collection was made', async () => {
    const bytes = await filled();
    await start({ version: '1.17.1' });
    const reply = await upload('older', bytes);
    expect(reply.status).toBe(500);
    expect(await store.collectionExists('older')).toBe(true);
  });

  test('land on the target of an alias', async () => {
    const bytes = await filled();
    await store.createCollection('live', OLD_LAYOUT);
    await createAlias(sandbox.url, 'a', 'live');
    expect((await upload('a', bytes)).status).toBe(200);
    expect(await store.count('live')).toBe(2);
  });

  test('of an old layout land on a new one without a word', async () => {
    const bytes = await filled();
    await store.createCollection('new', NEW_LAYOUT);
    expect((await upload('new', bytes)).status).toBe(200);
    const { points } = await store.scroll('new', { limit: 9, vector: ['bm25'] });
    expect(points.map(({ vector }) => vector)).toEqual(['{}', '{}']);
  });
});

describe('faults', () => {
  test('before a write leave it undone, after it take only the answer', async () => {
    await store.createCollection('m', OLD_LAYOUT);
    const points = [{ id: 1, vector: [1, 0, 0, 0] }];
    for (const [when, count] of [
      ['before', 0],
      ['after', 1],
    ] as const) {
      sandbox.fault({ on: /^PUT .*points/, when, does: { kind: 'drop' } });
      await expect(send('PUT', '/collections/m/points?wait=true', { points })).rejects.toThrow();
      expect(await store.count('m')).toBe(count);
    }
  });

  test('strike as often as told, and are over then', async () => {
    const body = 'busy';
    sandbox.fault({ times: 2, does: { kind: 'answer', status: 503, body } });
    const statuses = [await call('/'), await call('/'), await call('/')].map((r) => r.status);
    expect(statuses).toEqual([503, 503, 200]);
  });
});
