// Downloads and uploads of a large file while the store, the connection or the file itself fails
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createQdrant } from '../../../../../lib/migration/adapters/qdrant.ts';
import { resume } from '../../../../../lib/migration/runs/journal.ts';
import type { StepContext } from '../../../../../lib/migration/runs/step.ts';
import { withSnapshot } from '../../../../../lib/migration/snapshots.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../../../sandbox/qdrant/server.ts';
import { listenInTest } from '../../../../shared/support/loopback.ts';
import { createMemoryArtifacts } from '../../../support/memory-artifacts.ts';
import { failureNamed } from '../../../support/refused.ts';

const SILENCE_MS = 40;

/** Creates an adapter whose Qdrant sends these chunks, and then falls silent or ends the response. */
function createSendingStore(chunks: readonly string[], then: 'silence' | 'end') {
  return createQdrant({
    url: 'http://qdrant.test',
    timeoutMs: SILENCE_MS,
    fetch: async (_, init) => {
      const body = new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
          if (then === 'end') controller.close();
          const { signal } = init ?? {};
          signal?.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
      return new Response(body);
    },
  });
}

test('a store that stops sending is unavailable', async () => {
  const store = createSendingStore(['some'], 'silence');
  const { bytes } = await store.downloadSnapshot('memories', 'a.snapshot');
  const unavailable = { name: 'RetryableUnavailable' };
  await expect(Array.fromAsync(bytes)).rejects.toMatchObject(unavailable);
});

test('a store without ranges sends the whole file, and the bytes already received are skipped', async () => {
  const store = createSendingStore(['one', 'two', 'three'], 'end');
  const part = await store.downloadSnapshot('memories', 'a.snapshot', 4);
  expect(part.totalBytes).toBeUndefined();
  expect(Buffer.concat(await Array.fromAsync(part.bytes)).toString()).toBe('wothree');
});

test('a collection in the middle of a restore is read once', async () => {
  let requests = 0;
  const store = createQdrant({
    url: 'http://qdrant.test',
    fetch: async () => {
      requests += 1;
      return new Response('{}', { status: 500 });
    },
  });
  expect(await store.countRestoredPoints('memories')).toBeUndefined();
  expect(requests).toBe(1);
});

test('a slow consumer gets the whole file', async () => {
  const store = createSendingStore(['one', 'two', 'three'], 'end');
  const { bytes } = await store.downloadSnapshot('memories', 'a.snapshot');
  const received: string[] = [];
  for await (const chunk of bytes) {
    await pause(2 * SILENCE_MS);
    received.push(Buffer.from(chunk).toString());
  }
  expect(received).toEqual(['one', 'two', 'three']);
});

describe('an upload that is only announced', () => {
  type Responder = (request: IncomingMessage, response: ServerResponse) => void;

  /** Responds like a proxy, which sees the length before it asks for the body. */
  async function announce(respond: Responder) {
    let received = 0;
    const server = createServer((_, response) => response.end());
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      respond(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const store = createQdrant({ url: `http://127.0.0.1:${port}` });
    const outcome = await store.probeUpload('drill', 3_000_000_000).then(
      () => 'accepted',
      (error: unknown) => error,
    );
    return { outcome, received };
  }

  test('sends nothing, even when the server asks for the body', async () => {
    let length: string | undefined;
    const { outcome, received } = await announce(({ headers }, response) => {
      length = headers['content-length'];
      response.writeContinue();
    });
    expect([outcome, received, length]).toEqual(['accepted', 0, '3000000000']);
  });

  test("is refused with the setting of the proxy if the proxy's limit is too low", async () => {
    const { outcome, received } = await announce((_, response) => {
      response.writeHead(413).end('<html>413 Request Entity Too Large</html>');
    });
    expect([outcome, received]).toEqual([
      failureNamed('RefusedByService', 'client_max_body_size'),
      0,
    ]);
  });

  test("succeeds despite the store's refusal, because the store received no file", async () => {
    const { outcome } = await announce((_, response) => response.writeHead(400).end());
    expect(outcome).toBe('accepted');
  });

  test('fails if no server answers', async () => {
    const { outcome } = await announce((request) => request.destroy());
    expect(outcome).toMatchObject({ name: 'RetryableUnavailable' });
  });
});

describe('a snapshot of 100 bytes on a server', () => {
  const FILE = Buffer.from('0123456789'.repeat(10));

  interface Connections {
    /** Bytes that each connection delivers before it breaks */
    readonly bytesPerConnection?: number;
    /** True if the server announces the length; object storage does not. */
    readonly announcesLength?: boolean;
    readonly beforeBody?: () => Promise<void>;
  }

  async function serve({
    bytesPerConnection = 100,
    announcesLength = true,
    beforeBody,
  }: Connections) {
    const ranges: (string | undefined)[] = [];
    const url = await listenInTest(async (request, response) => {
      ranges.push(request.headers.range);
      const first = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const rest = FILE.subarray(first);
      if (announcesLength) response.setHeader('content-length', rest.length);
      response.writeHead(first > 0 ? 206 : 200).flushHeaders();
      await beforeBody?.();
      response.write(rest.subarray(0, bytesPerConnection), () => {
        if (bytesPerConnection < rest.length) response.destroy();
        else response.end();
      });
    });
    return { store: createQdrant({ url }), ranges };
  }

  test('is complete after one request, even if the garbage collector runs before its body is read', async () => {
    const bodyStart = Promise.withResolvers<void>();
    const server = await serve({ beforeBody: () => bodyStart.promise });
    const { bytes } = await server.store.downloadSnapshot('memories', 'a.snapshot');
    await collectGarbage();
    bodyStart.resolve();
    expect(Buffer.concat(await Array.fromAsync(bytes))).toEqual(FILE);
    expect(server.ranges).toEqual([undefined]);
  });

  test.each([true, false])(
    'is stored in one part per connection (length announced: %s)',
    async (announcesLength) => {
      const server = await serve({ bytesPerConnection: 40, announcesLength });
      const { parts, content } = await storeSnapshot(server);
      expect([parts?.count, content]).toEqual([3, FILE]);
      expect(server.ranges).toEqual([undefined, 'bytes=40-', 'bytes=80-']);
    },
  );

  test('is unavailable if a connection delivers no byte', async () => {
    const server = await serve({ bytesPerConnection: 0 });
    await expect(storeSnapshot(server)).rejects.toMatchObject({ name: 'RetryableUnavailable' });
  });

  async function storeSnapshot({ store }: Awaited<ReturnType<typeof serve>>) {
    const { store: artifacts } = createMemoryArtifacts(() => new Date(0));
    const vectors = { ...store, listSnapshots: async () => [], deleteSnapshot: async () => {} };
    const services = { vectors, artifacts, snapshotPartBytes: 1_000 };
    const snapshot = { name: 'a.snapshot', size: FILE.length, checksum: null };
    const recorded = {
      passed: { 'snapshot-made': { found: { known: [], requests: [], snapshot } } },
      open: { stage: 'snapshot-kept', cursor: { prefix: 'a', count: 0, bytes: 0 } },
    };
    const ports = { renewLease: async () => {}, hasTime: () => true, workedMs: () => 0 };
    const context = { ...ports, services, run: {}, lease: {} } as unknown as StepContext;
    const staged = resume(context, { cursor: recorded, saveCursor: async () => {} });
    const source = { collection: 'memories', label: 'snapshot' };
    const { parts } = await withSnapshot(staged, source, async (stored) => stored);
    const chunks: Uint8Array[] = [];
    for await (const { key } of artifacts.list('a-part-')) {
      chunks.push(...(await Array.fromAsync(artifacts.get(key))));
    }
    return { parts, content: Buffer.concat(chunks) };
  }
});

/** Collects garbage, and waits because finalizers run in later turns of the event loop. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  for (let context = 0; context < 3; context += 1) {
    collect();
    await pause(1);
  }
}

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
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const store = createQdrant({ url: sandbox.url, apiKey });
  const file = { fileName: 'a.snapshot', size: MEGABYTES * MEGABYTE, checksum: 'a'.repeat(64) };
  return store.uploadSnapshot('restored', { ...file, bytes, ...options });
}

async function* zeros(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < MEGABYTES; sent += 1) yield Buffer.alloc(MEGABYTE);
}

async function* brokenFile(megabytes: number): AsyncGenerator<Uint8Array> {
  if (megabytes > 0) yield Buffer.alloc(megabytes * MEGABYTE);
  throw new TypeError('the file cannot be read');
}

test('a refusal that comes before the file is sent is reported', async () => {
  const refused = { name: 'RefusedCredentials' };
  await expect(upload('wrong', zeros())).rejects.toMatchObject(refused);
});

test('a broken connection counts as an unreachable store, and is not retried', async () => {
  sandbox.fault({ on: /upload/, effect: { kind: 'drop' } });
  const unavailable = { name: 'RetryableUnavailable' };
  await expect(upload('secret', zeros())).rejects.toMatchObject(unavailable);
});

test.each([0, 1])(
  "a file that breaks after %d MB is not the store's failure",
  async (megabytes) => {
    const broken = { name: 'TypeError', message: 'the file cannot be read' };
    await expect(upload('secret', brokenFile(megabytes))).rejects.toMatchObject(broken);
  },
);

test('an aborted upload ends at once, and creates nothing', async () => {
  const controller = new AbortController();
  const abortReason = new Error('the lease is lost');
  let sent = 0;
  async function* interrupted() {
    for await (const chunk of zeros()) {
      yield chunk;
      sent += 1;
      if (sent === 2) controller.abort(abortReason);
    }
  }
  const { signal } = controller;
  await expect(upload('secret', interrupted(), { signal })).rejects.toBe(abortReason);
  expect(sent).toBeLessThan(MEGABYTES);
  await expect(upload('secret', zeros(), { signal })).rejects.toBe(abortReason);
  const store = createQdrant({ url: sandbox.url, apiKey: 'secret' });
  expect(await store.listCollections()).toEqual([]);
});
