// Snapshots over Qdrant's REST API. No request waits until a snapshot is made or restored, and no snapshot is held in memory.
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import type { SnapshotPart, SnapshotUpload } from '../../ports/vector-store.ts';
import { isRetryableFailure, recoverWith } from '../../refusals.ts';
import { type HttpCall, toConnectionFailure } from '../http.ts';
import {
  type Call,
  collectionPath,
  TOO_LARGE,
  type Transport,
  toFailure,
  undefinedIfNotFound,
} from './transport.ts';

export function createQdrantSnapshots(transport: Transport) {
  const { fetchResult, openResponse } = transport;

  /**
   * Requests a snapshot and returns immediately. The snapshot is complete when it is listed; the store does not report a failure.
   * @returns the time on the store's clock, in epoch milliseconds; undefined if the response has no date
   */
  // With wait=false, the store returns 202 before it begins the snapshot.
  async function startSnapshot(collection: string): Promise<number | undefined> {
    const path = collectionPath(collection, '/snapshots?wait=false');
    const signal = AbortSignal.timeout(transport.timeoutMs);
    const response = await openResponse({ method: 'POST', path }, signal);
    await response.body?.cancel();
    const time = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(time) ? undefined : time;
  }

  async function listSnapshots(collection: string): Promise<Schemas['SnapshotDescription'][]> {
    return await fetchResult({ path: collectionPath(collection, '/snapshots') });
  }

  /** Downloads the file from the given byte on, until the file ends or the connection breaks. */
  async function downloadSnapshot(
    collection: string,
    name: string,
    fromByte = 0,
  ): Promise<SnapshotPart> {
    const path = snapshotPath(collection, name);
    const range = fromByte > 0 ? { range: `bytes=${fromByte}-` } : {};
    // A compressed response would have neither a length nor ranges.
    const headers = { 'accept-encoding': 'identity', ...range };
    const watchdog = createWatchdog(transport.timeoutMs);
    const response = await openResponse({ path, headers }, watchdog.signal);
    return toSnapshotPart(transport.toHttpCall({ path }), response, fromByte, watchdog);
  }

  // A missing snapshot counts as deleted: the response to an earlier request may have been lost.
  async function deleteSnapshot(collection: string, name: string): Promise<void> {
    const path = `${snapshotPath(collection, name)}?wait=true`;
    await fetchResult({ method: 'DELETE', path }).catch(undefinedIfNotFound);
  }

  /** Counts the points of a collection that the store may still be restoring. @returns undefined while it cannot be read */
  // The request is not retried: while a shard is being replaced, reads fail with a 500.
  async function countRestoredPoints(collection: string): Promise<number | undefined> {
    const path = collectionPath(collection, '/points/count');
    const call: Call = { method: 'POST', path, body: { exact: true }, isRetried: false };
    const response = fetchResult<Schemas['CountResult']>(call).catch(
      recoverWith(undefined, isRetryableFailure),
    );
    return (await response.catch(undefinedIfNotFound))?.count;
  }

  return {
    startSnapshot,
    listSnapshots,
    downloadSnapshot,
    deleteSnapshot,
    uploadSnapshot: createUpload(transport),
    probeUpload: createUploadProbe(transport),
    countRestoredPoints,
  };
}

function snapshotPath(collection: string, name: string): string {
  return collectionPath(collection, `/snapshots/${encodeURIComponent(name)}`);
}

function toSnapshotPart(
  call: HttpCall,
  response: Response,
  fromByte: number,
  watchdog: Watchdog,
): SnapshotPart {
  const { status, headers } = response;
  // A store with snapshots in object storage ignores ranges, and sends the whole file.
  const skippedBytes = status === 206 ? 0 : fromByte;
  const length = headers.get('content-length');
  const totalBytes = length === null ? undefined : fromByte - skippedBytes + Number(length);
  return { totalBytes, bytes: skipBytes(skippedBytes, limitSilence(call, response, watchdog)) };
}

async function* skipBytes(byteCount: number, bytes: AsyncIterable<Uint8Array>) {
  let remaining = byteCount;
  for await (const chunk of bytes) {
    if (remaining < chunk.length) yield chunk.subarray(remaining);
    remaining = Math.max(0, remaining - chunk.length);
  }
}

// Keeps a reference to the response: if the response is garbage-collected, fetch cancels its body without an error.
async function* limitSilence(call: HttpCall, response: Response, watchdog: Watchdog) {
  try {
    for await (const chunk of response.body ?? []) {
      watchdog.stop();
      yield chunk;
      watchdog.start();
    }
  } catch (cause) {
    throw toConnectionFailure(call, cause);
  } finally {
    watchdog.stop();
  }
}

type Watchdog = ReturnType<typeof createWatchdog>;

// Only the store's silence is limited, not the time of the download or of its consumer.
function createWatchdog(silenceMs: number) {
  const controller = new AbortController();
  const abortSilent = () => controller.abort(new Error(`${silenceMs} ms silent`));
  let timer = setTimeout(abortSilent, silenceMs);
  return {
    signal: controller.signal,
    start() {
      timer = setTimeout(abortSilent, silenceMs);
    },
    stop: () => clearTimeout(timer),
  };
}

const SILENCE_MS = 30 * 60_000;

/**
 * Uploads a snapshot; resolves when the store has the whole file. The store then creates or overwrites the collection, without
 * reporting whether that fails.
 */
// Does not use fetch, which cannot announce the length of a stream, and gives up after 300 seconds without a response, while the
// store may still be unpacking a large file.
function createUpload({ toHttpCall, keyHeaders }: Transport) {
  return async (collection: string, upload: SnapshotUpload): Promise<void> => {
    const { signal, checksum } = upload;
    const query = `?priority=snapshot&checksum=${checksum}&wait=false`;
    const path = collectionPath(collection, `/snapshots/upload${query}`);
    const call = toHttpCall({ method: 'POST', path });
    const form = buildForm(upload);
    const headers = { ...keyHeaders(), ...form.headers };
    signal?.throwIfAborted();
    const startRequest = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = startRequest(call.url, {
      method: 'POST',
      headers,
      signal,
      timeout: SILENCE_MS,
    });
    const response = await send(request, form.content).catch((cause: unknown) => {
      signal?.throwIfAborted();
      // A file that cannot be read is not the store's failure.
      throw form.getFileError() ?? toConnectionFailure(call, cause);
    });
    if (!response.ok) throw await toFailure(`POST ${path}`, response);
  };
}

/** Time that a server has to refuse the upload before its body is sent; no response counts as acceptance. */
const CONTINUE_MS = 5_000;

/**
 * Announces an upload of this size, and cancels it when the server asks for the body: nothing is sent or created.
 * @throws Refusal if a proxy refuses a body of this size
 */
function createUploadProbe({ toHttpCall, keyHeaders }: Transport) {
  return async (collection: string, bytes: number): Promise<void> => {
    const path = collectionPath(collection, '/snapshots/upload?wait=false');
    const call = toHttpCall({ method: 'POST', path });
    const headers = {
      ...keyHeaders(),
      'content-type': 'multipart/form-data; boundary=probe',
      'content-length': String(bytes),
      expect: '100-continue',
    };
    const startRequest = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = startRequest(call.url, { method: 'POST', headers, timeout: CONTINUE_MS });
    const response = await new Promise<Response | undefined>((resolve, reject) => {
      request.once('continue', () => resolve(undefined)).once('timeout', () => resolve(undefined));
      request.once('response', (incoming) => resolve(toResponse(incoming)));
      request.on('error', (cause) => reject(toConnectionFailure(call, cause)));
      request.flushHeaders();
    }).finally(() => request.destroy());
    // Any other response comes from the store, so no proxy has refused the size.
    if (response?.status === TOO_LARGE) throw await toFailure(`POST ${path}`, response);
  };
}

// If a refusal arrives before the whole file is sent, the rest is not sent.
async function send(request: ClientRequest, content: SnapshotUpload['bytes']): Promise<Response> {
  request.on('timeout', () => request.destroy(new Error(`${SILENCE_MS} ms silent`)));
  const firstResponse = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).on('error', reject);
  });
  const upload = pipeline(content, request);
  const incoming = await Promise.race([firstResponse, upload.then(() => firstResponse)]);
  const response = await toResponse(incoming);
  request.destroy();
  return response;
}

async function toResponse(incoming: IncomingMessage): Promise<Response> {
  return new Response(await buffer(incoming), { status: incoming.statusCode ?? 500 });
}

function buildForm({ fileName, size, bytes }: SnapshotUpload) {
  const boundary = `snapshot-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="snapshot"; filename="${fileName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + size + tail.length),
  };
  let fileError: unknown;
  return { headers, content: content(), getFileError: () => fileError };

  // A broken connection ends the generator without throwing into it: an error here comes from the file.
  async function* content(): AsyncGenerator<Uint8Array> {
    yield head;
    try {
      yield* bytes;
    } catch (error) {
      fileError = error;
      throw error;
    }
    yield tail;
  }
}
