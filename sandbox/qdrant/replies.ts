// Sends answers in Qdrant's forms: an envelope, a 202 without a result, plain text, or a file with ranges.
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { writeJson } from '../../lib/migration/json/json-text.ts';
import { ACCEPTED, BareJson, FileAnswer, PlainText } from './exchange.ts';
import { Refusal } from './refusal.ts';

const ANSWER_SECONDS = 0.001;

export async function sendAnswer(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: unknown,
): Promise<void> {
  if (answer === ACCEPTED) sendJson(response, 202, { status: 'accepted', time: ANSWER_SECONDS });
  else if (answer instanceof PlainText) sendText(response, 200, answer.text);
  else if (answer instanceof BareJson) sendJson(response, 200, answer.value);
  else if (answer instanceof FileAnswer) await sendFile(incoming, response, answer);
  else sendJson(response, 200, { result: answer, status: 'ok', time: ANSWER_SECONDS });
}

export function sendFailure(response: ServerResponse, error: unknown): void {
  if (error instanceof Refusal && error.plain) sendText(response, error.status, error.message);
  else {
    const status = error instanceof Refusal ? error.status : 500;
    const reason = error instanceof Error ? error.message : String(error);
    sendJson(response, status, { status: { error: reason }, time: ANSWER_SECONDS, result: null });
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

// A client that accepts gzip gets a compressed answer, without a length or a range.
async function sendFile(
  incoming: IncomingMessage,
  response: ServerResponse,
  { file, size, isStreamed }: FileAnswer,
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
