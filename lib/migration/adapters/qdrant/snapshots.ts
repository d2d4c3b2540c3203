// Snapshots over Qdrant's REST: never waited for in one silent request, never held in memory.
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import type { SnapshotPart, SnapshotUpload } from '../../ports/vector-store.ts';
import { isRetryableFailure, takeAs } from '../../refusals.ts';
import { type HttpCall, noAnswer } from '../http.ts';
import { failureOf, pathOf, TOO_LARGE, type Transport, unlessFound } from './transport.ts';

export function createQdrantSnapshots(transport: Transport) {
  const { result, open } = transport;

  /**
   * Asks for one and returns at once: it is complete when it is listed. A failure is reported nowhere.
   * @returns the time by the store's clock, in epoch milliseconds; undefined where it does not tell it
   */
  // With wait=false the answer is a 202 that says nothing yet.
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

  /** From a byte on, to the end or to where the connection breaks. */
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
    return toPart(transport.named({ path }), response, fromByte, watchdog);
  }

  /** Done already when there is none of that name. */
  // The response to an earlier request may have been lost.
  async function deleteSnapshot(collection: string, name: string): Promise<void> {
    const path = `${snapshotPath(collection, name)}?wait=true`;
    await result({ method: 'DELETE', path }).catch(unlessFound);
  }

  /** Asked once: how many points a collection has that may still be being restored; undefined while it cannot be read. */
  // While a shard is being replaced, reads fail with a 500.
  async function restoredPoints(collection: string): Promise<number | undefined> {
    const path = pathOf(collection, '/points/count');
    const call = { method: 'POST', path, body: { exact: true }, again: false } as const;
    const counted = result<Schemas['CountResult']>(call).catch(
      takeAs(undefined, isRetryableFailure),
    );
    return (await counted.catch(unlessFound))?.count;
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
  // A store that keeps its snapshots in object storage knows no ranges, and sends all of it.
  const skipped = status === 206 ? 0 : fromByte;
  const length = headers.get('content-length');
  const totalBytes = length === null ? undefined : fromByte - skipped + Number(length);
  return { totalBytes, bytes: without(skipped, watched(call, response, watchdog)) };
}

async function* without(first: number, bytes: AsyncIterable<Uint8Array>) {
  let left = first;
  for await (const chunk of bytes) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

// Takes the whole response: fetch cancels a body without an error once its Response is garbage-collected.
async function* watched(call: HttpCall, response: Response, watchdog: Watchdog) {
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

// Neither a download nor its consumer has a time limit; only a silence of the store has one.
function createWatchdog(silenceMs: number) {
  const controller = new AbortController();
  const bark = () => controller.abort(new Error(`${silenceMs} ms silent`));
  let timer = setTimeout(bark, silenceMs);
  return {
    signal: controller.signal,
    start() {
      timer = setTimeout(bark, silenceMs);
    },
    stop: () => clearTimeout(timer),
  };
}

const SILENCE_MS = 30 * 60_000;

/**
 * Returns when the store has the whole file. It then makes a collection of it, or overwrites one that exists; a failure
 * of that is reported nowhere.
 */
// Not with fetch: it cannot announce the length of a stream and gives up after 300 silent seconds,
// while the store silently unpacks a large file.
function createUpload({ named, authorization }: Transport) {
  return async (collection: string, upload: SnapshotUpload): Promise<void> => {
    const { signal, checksum } = upload;
    const query = `?priority=snapshot&checksum=${checksum}&wait=false`;
    const path = pathOf(collection, `/snapshots/upload${query}`);
    const call = named({ method: 'POST', path });
    const form = buildForm(upload);
    const headers = { ...authorization(), ...form.headers };
    signal?.throwIfAborted();
    const open = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = open(call.url, { method: 'POST', headers, signal, timeout: SILENCE_MS });
    const reply = await send(request, form.content).catch((cause: unknown) => {
      signal?.throwIfAborted();
      // A file that cannot be read is no failure of the store.
      throw form.brokenBy() ?? noAnswer(call, cause);
    });
    if (!reply.ok) throw await failureOf(`POST ${path}`, reply);
  };
}

/** How long a server may take to say that it wants the body; one that says nothing has no objection that is known. */
const CONTINUE_MS = 5_000;

/**
 * Announces an upload of that size, and breaks off when the server asks for its first byte: nothing is sent or made.
 * @throws Refusal if a proxy takes no body of that size
 */
function createUploadProbe({ named, authorization }: Transport) {
  return async (collection: string, bytes: number): Promise<void> => {
    const path = pathOf(collection, '/snapshots/upload?wait=false');
    const call = named({ method: 'POST', path });
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
    // Any other answer is that of the store, which has seen no snapshot.
    if (reply?.status === TOO_LARGE) throw await failureOf(`POST ${path}`, reply);
  };
}

// A refusal may arrive before the file is sent: the answer counts, and the rest of the file is not sent.
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

  // A connection that breaks ends it, and throws nothing into it.
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
