// Streams a snapshot file to Qdrant as one multipart form, with its length known beforehand.
// Not with fetch: it cannot announce the length of a stream and gives up after 300 silent seconds,
// while the store unpacks a large file without a word.
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SnapshotUpload } from '../../vector-store.ts';
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
    const request = openRequest(`${baseUrl}${path}`, headers);
    const reply = await send(request, form.bytes()).catch((cause) => {
      throw toUnavailable(`POST ${path}`, cause);
    });
    if (!reply.ok) throw await toFailure(`POST ${path}`, reply);
  };
}

function openRequest(url: string, headers: Record<string, string>): ClientRequest {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest;
  return open(url, { method: 'POST', headers, timeout: SILENCE_MS });
}

// A refusal may arrive, and the connection close, before the file is sent: the answer counts.
async function send(request: ClientRequest, bytes: AsyncIterable<Uint8Array>): Promise<Response> {
  request.on('timeout', () => request.destroy(new Error(`${SILENCE_MS} ms silent`)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  const sent = pipeline(Readable.from(bytes), request);
  const [answer] = await Promise.all([answered, sent.catch(() => answered)]);
  const body = await Array.fromAsync(answer);
  const status = answer.statusCode ?? 500;
  const retryAfter = answer.headers['retry-after'];
  return new Response(Buffer.concat(body), {
    status,
    headers: retryAfter ? { 'retry-after': retryAfter } : {},
  });
}

function formOf({ fileName, size, bytes }: SnapshotUpload) {
  const boundary = `snapshot-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="snapshot"; filename="${fileName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + size + tail.length),
    },
    async *bytes() {
      yield head;
      yield* bytes;
      yield tail;
    },
  };
}
