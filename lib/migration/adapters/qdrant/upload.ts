// Streams a snapshot file to Qdrant as one multipart form, with its length known beforehand.
// Not with fetch: it cannot announce the length of a stream and gives up after 300 silent seconds,
// while the store unpacks a large file without a word.
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SnapshotUpload } from '../../ports/vector-store.ts';
import { toFailure, toUnavailable } from './failures.ts';
import { pathOf } from './paths.ts';
import type { Transport } from './transport.ts';

const SILENCE_MS = 30 * 60_000;

export function createUpload({ baseUrl, authorization }: Transport) {
  return async (collection: string, upload: SnapshotUpload): Promise<void> => {
    const query = `?priority=snapshot&checksum=${upload.checksum}&wait=true`;
    const path = pathOf(collection, `/snapshots/upload${query}`);
    const form = formOf(upload);
    const headers = { ...authorization(), ...form.headers };
    upload.signal?.throwIfAborted();
    const request = openRequest(`${baseUrl}${path}`, headers, upload.signal);
    const reply = await send(request, form.bytes()).catch((cause) => {
      upload.signal?.throwIfAborted();
      // A file that cannot be read is no failure of the store.
      throw form.brokenBy() ?? toUnavailable(`POST ${path}`, cause);
    });
    if (!reply.ok) throw await toFailure(`POST ${path}`, reply);
  };
}

function openRequest(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): ClientRequest {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest;
  return open(url, { method: 'POST', headers, signal, timeout: SILENCE_MS });
}

// A refusal may arrive before the file is sent: the answer counts, and the rest of the file is not sent.
async function send(request: ClientRequest, bytes: AsyncIterable<Uint8Array>): Promise<Response> {
  request.on('timeout', () => request.destroy(new Error(`${SILENCE_MS} ms silent`)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).on('error', reject);
  });
  // Whatever ends the sending ends the request, and shows there.
  pipeline(Readable.from(bytes), request).catch(() => undefined);
  const answer = await answered;
  const body = Buffer.concat(await Array.fromAsync<Buffer>(answer));
  request.destroy();
  const retryAfter = answer.headers['retry-after'];
  const headers = retryAfter ? { 'retry-after': retryAfter } : {};
  return new Response(body, { status: answer.statusCode ?? 500, headers });
}

function formOf({ fileName, size, bytes }: SnapshotUpload) {
  const boundary = `snapshot-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="snapshot"; filename="${fileName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  let brokenBy: unknown;
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + size + tail.length),
    },
    brokenBy: () => brokenBy,
    async *bytes() {
      yield head;
      yield* read();
      yield tail;
    },
  };

  // By hand: a connection that breaks is thrown into this generator, where it must not be taken for the file's fault.
  async function* read(): AsyncGenerator<Uint8Array> {
    const file = bytes[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await file.next().catch((error: unknown) => {
          brokenBy = error;
          throw error;
        });
        if (done) return;
        yield value;
      }
    } finally {
      await file.return?.();
    }
  }
}
