// Snapshots over Qdrant's REST API: no request waits for a whole snapshot, and none is held in memory.
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import type { SnapshotPart, SnapshotUpload } from '../../ports/vector-store.ts';
import { isRetryableFailure, recoverWith } from '../../refusals.ts';
import { type HttpCall, noAnswer } from '../http.ts';
import {
  type Call,
  pathOf,
  TOO_LARGE,
  type Transport,
  toFailure,
  undefinedIfNotFound,
} from './transport.ts';

export function createQdrantSnapshots(transport: Transport) {
  const { result, open } = transport;

  /**
   * Requests a snapshot and returns at once. The snapshot is complete when it is listed; the store does not report a failure.
   * @returns the store's time, in epoch milliseconds; undefined if it gives none
   */
  // With wait=false, the store answers 202 before it has begun.
  async function startSnapshot(collection: string): Promise<number | undefined> {
    const path = pathOf(collection, '/snapshots?wait=false');
    const signal = AbortSignal.timeout(transport.timeoutMs);
    const response = await open({ method: 'POST', path }, signal);
    await response.body?.cancel();
    const time = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(time) ? undefined : time;
  }

  async function listSnapshots(collection: string): Promise<Schemas['SnapshotDescription'][]> {
    return result({ path: pathOf(collection, '/snapshots') });
  }

  /** Downloads from a byte on, until the end or until the connection breaks. */
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
    const response = await open({ path, headers }, watchdog.signal);
    return toPart(transport.toHttpCall({ path }), response, fromByte, watchdog);
  }

  // A missing snapshot counts as deleted: the response to an earlier request may have been lost.
  async function deleteSnapshot(collection: string, name: string): Promise<void> {
    const path = `${snapshotPath(collection, name)}?wait=true`;
    await result({ method: 'DELETE', path }).catch(undefinedIfNotFound);
  }

  /** Number of points of a collection that may still be in the middle of a restore; undefined while it cannot be read */
  // Not retried: while a shard is being replaced, reads fail with a 500.
  async function restoredPoints(collection: string): Promise<number | undefined> {
    const path = pathOf(collection, '/points/count');
    const call: Call = { method: 'POST', path, body: { exact: true }, isRetried: false };
    const counted = result<Schemas['CountResult']>(call).catch(
      recoverWith(undefined, isRetryableFailure),
    );
    return (await counted.catch(undefinedIfNotFound))?.count;
  }

  return {
    startSnapshot,
    listSnapshots,
    downloadSnapshot,
    deleteSnapshot,
    uploadSnapshot: createUpload(transport),
    tryUpload: createUploadProbe(transport),
    restoredPoints,
  };
}

function snapshotPath(collection: string, name: string): string {
  return pathOf(collection, `/snapshots/${encodeURIComponent(name)}`);
}

function toPart(
  call: HttpCall,
  response: Response,
  fromByte: number,
  watchdog: Watchdog,
): SnapshotPart {
  const { status, headers } = response;
  // A store with snapshots in object storage ignores ranges, and sends the whole file.
  const skipped = status === 206 ? 0 : fromByte;
  const length = headers.get('content-length');
  const totalBytes = length === null ? undefined : fromByte - skipped + Number(length);
  return { totalBytes, bytes: skipBytes(skipped, limitSilence(call, response, watchdog)) };
}

async function* skipBytes(first: number, bytes: AsyncIterable<Uint8Array>) {
  let left = first;
  for await (const chunk of bytes) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

// Holds on to the response: once it is garbage-collected, fetch cancels its body without an error.
async function* limitSilence(call: HttpCall, response: Response, watchdog: Watchdog) {
  try {
    for await (const chunk of response.body ?? []) {
      watchdog.stop();
      yield chunk;
      watchdog.start();
    }
  } catch (cause) {
    throw noAnswer(call, cause);
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
 * Returns when the store has the whole file, from which it then creates or overwrites a collection. The store does not report a
 * failure of that.
 */
// Does not use fetch, which cannot announce the length of a stream, and gives up after 300 silent seconds, while the store
// unpacks a large file in silence.
function createUpload({ toHttpCall, authorization }: Transport) {
  return async (collection: string, upload: SnapshotUpload): Promise<void> => {
    const { signal, checksum } = upload;
    const query = `?priority=snapshot&checksum=${checksum}&wait=false`;
    const path = pathOf(collection, `/snapshots/upload${query}`);
    const call = toHttpCall({ method: 'POST', path });
    const form = buildForm(upload);
    const headers = { ...authorization(), ...form.headers };
    signal?.throwIfAborted();
    const open = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = open(call.url, { method: 'POST', headers, signal, timeout: SILENCE_MS });
    const reply = await send(request, form.content).catch((cause: unknown) => {
      signal?.throwIfAborted();
      // A file that cannot be read is not the store's failure.
      throw form.brokenBy() ?? noAnswer(call, cause);
    });
    if (!reply.ok) throw await toFailure(`POST ${path}`, reply);
  };
}

/** Time in which a server can refuse the body; silence counts as acceptance. */
const CONTINUE_MS = 5_000;

/**
 * Announces an upload of this size, and cancels when the server asks for the first byte: nothing is sent or created.
 * @throws Refusal if a proxy accepts no body of this size
 */
function createUploadProbe({ toHttpCall, authorization }: Transport) {
  return async (collection: string, bytes: number): Promise<void> => {
    const path = pathOf(collection, '/snapshots/upload?wait=false');
    const call = toHttpCall({ method: 'POST', path });
    const headers = {
      ...authorization(),
      'content-type': 'multipart/form-data; boundary=probe',
      'content-length': String(bytes),
      expect: '100-continue',
    };
    const open = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = open(call.url, { method: 'POST', headers, timeout: CONTINUE_MS });
    const reply = await new Promise<Response | undefined>((resolve, reject) => {
      request.once('continue', () => resolve(undefined)).once('timeout', () => resolve(undefined));
      request.once('response', (answer) => resolve(toResponse(answer)));
      request.on('error', (cause) => reject(noAnswer(call, cause)));
      request.flushHeaders();
    }).finally(() => request.destroy());
    // Any other answer comes from the store, which has received no snapshot.
    if (reply?.status === TOO_LARGE) throw await toFailure(`POST ${path}`, reply);
  };
}

// A refusal may arrive before the file is sent: then the rest of the file is not sent.
async function send(request: ClientRequest, content: SnapshotUpload['bytes']): Promise<Response> {
  request.on('timeout', () => request.destroy(new Error(`${SILENCE_MS} ms silent`)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).on('error', reject);
  });
  const sent = pipeline(content, request);
  const answer = await Promise.race([answered, sent.then(() => answered)]);
  const reply = await toResponse(answer);
  request.destroy();
  return reply;
}

async function toResponse(answer: IncomingMessage): Promise<Response> {
  return new Response(await buffer(answer), { status: answer.statusCode ?? 500 });
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
  let brokenBy: unknown;
  return { headers, content: content(), brokenBy: () => brokenBy };

  // A broken connection ends the generator without throwing into it: an error here comes from the file.
  async function* content(): AsyncGenerator<Uint8Array> {
    yield head;
    try {
      yield* bytes;
    } catch (error) {
      brokenBy = error;
      throw error;
    }
    yield tail;
  }
}
