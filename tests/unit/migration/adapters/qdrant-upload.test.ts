// How an upload of a large file ends when the store, the connection or the file itself does not play along.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../../local/sandbox/qdrant/server.ts';

const MEGABYTE = 1024 * 1024;
const MEGABYTES = 8;

let sandbox: QdrantSandbox;

beforeEach(async () => {
  sandbox = await startQdrantSandbox({ apiKey: 'secret' });
});
afterEach(() => sandbox.close());

function upload(
  apiKey: string,
  bytes: AsyncIterable<Uint8Array>,
  end: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const store = createQdrant({ url: sandbox.url, apiKey });
  const file = { fileName: 'a.snapshot', size: MEGABYTES * MEGABYTE, checksum: 'a'.repeat(64) };
  return store.uploadSnapshot('restored', { ...file, bytes, ...end });
}

async function* zeros(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < MEGABYTES; sent += 1) yield Buffer.alloc(MEGABYTE);
}

async function* brokenFile(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(MEGABYTE);
  throw new TypeError('the file cannot be read');
}

test('a refusal that comes before the file is sent is told', async () => {
  const refused = { name: 'RefusedCredentials' };
  await expect(upload('wrong', zeros())).rejects.toMatchObject(refused);
});

test('a broken connection is a store that cannot be reached, and is not tried again', async () => {
  sandbox.fault({ on: /upload/, does: { kind: 'drop' } });
  const unavailable = { name: 'RetryableUnavailable' };
  await expect(upload('secret', zeros())).rejects.toMatchObject(unavailable);
});

test('a broken file is no failure of the store', async () => {
  const broken = { name: 'TypeError', message: 'the file cannot be read' };
  await expect(upload('secret', brokenFile())).rejects.toMatchObject(broken);
});

test('an upload that is to end ends at once, and makes nothing', async () => {
  const controller = new AbortController();
  const over = new Error('the lease is lost');
  let sent = 0;
  async function* interrupted() {
    for await (const chunk of zeros()) {
      yield chunk;
      sent += 1;
      if (sent === 2) controller.abort(over);
    }
  }
  const { signal } = controller;
  await expect(upload('secret', interrupted(), { signal })).rejects.toBe(over);
  expect(sent).toBeLessThan(MEGABYTES);
  await expect(upload('secret', zeros(), { signal })).rejects.toBe(over);
  const store = createQdrant({ url: sandbox.url, apiKey: 'secret' });
  expect(await store.listCollections()).toEqual([]);
});

test('a file that arrives whole, but not as announced, is refused by its checksum', async () => {
  const refused = { name: 'RefusedByStore', answer: 400 };
  await expect(upload('secret', zeros())).rejects.toMatchObject(refused);
});
