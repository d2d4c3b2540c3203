// Sends responses in Qdrant's forms: an envelope, a 202 without a result, plain text, or a file with ranges.
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { writeJson } from '../../lib/migration/json/json-text.ts';
import { ACCEPTED, BareJson, FileResult, PlainText } from './call.ts';
import { Refusal } from './refusal.ts';

const DURATION_SECONDS = 0.001;

export async function sendResult(
  incoming: IncomingMessage,
  response: ServerResponse,
  result: unknown,
): Promise<void> {
  if (result === ACCEPTED) sendJson(response, 202, { status: 'accepted', time: DURATION_SECONDS });
  else if (result instanceof PlainText) sendText(response, 200, result.text);
  else if (result instanceof BareJson) sendJson(response, 200, result.value);
  else if (result instanceof FileResult) await sendFile(incoming, response, result);
  else sendJson(response, 200, { result, status: 'ok', time: DURATION_SECONDS });
}

export function sendFailure(response: ServerResponse, error: unknown): void {
  if (error instanceof Refusal && error.plain) sendText(response, error.status, error.message);
  else {
    const status = error instanceof Refusal ? error.status : 500;
    const reason = error instanceof Error ? error.message : String(error);
    sendJson(response, status, { status: { error: reason }, time: DURATION_SECONDS, result: null });
  }
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(writeJson(value));
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  response.writeHead(status, headers).end(body);
}

// A client that accepts gzip gets a compressed response, without a length or a range.
async function sendFile(
  incoming: IncomingMessage,
  response: ServerResponse,
  { file, size, isStreamed }: FileResult,
): Promise<void> {
  if (/gzip/.test(String(incoming.headers['accept-encoding'] ?? ''))) {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    await pipeline(createReadStream(file), createGzip(), response);
    return;
  }
  if (isStreamed) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    await pipeline(createReadStream(file), response);
    return;
  }
  const start = Number(/^bytes=(\d+)-$/.exec(incoming.headers.range ?? '')?.[1] ?? 0);
  if (start > 0 && start >= size) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(start > 0 ? 206 : 200, {
    'accept-ranges': 'bytes',
    'content-length': size - start,
    'content-type': 'application/octet-stream',
    ...(start > 0 ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
  });
  await pipeline(createReadStream(file, { start }), response);
}
