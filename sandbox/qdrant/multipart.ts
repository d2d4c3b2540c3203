// Saves the single file of a multipart form, without holding the form in memory.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { badRequest } from './refusal.ts';

const HEAD_BYTES = 4_096;

interface FormFile {
  readonly fileName: string;
  /** SHA-256 of the file, in hexadecimal. */
  readonly checksum: string;
}

/** Spools the whole form to disk, then copies the file of the named field out of it. */
export async function saveFormFile(
  incoming: IncomingMessage,
  field: string,
  target: string,
): Promise<FormFile> {
  const spool = `${target}.form`;
  try {
    await pipeline(incoming, createWriteStream(spool));
    const { fileName, start, end } = await locateFile(incoming, field, spool);
    await pipeline(createReadStream(spool, { start, end: end - 1 }), createWriteStream(target));
    return { fileName, checksum: await hashFile(target) };
  } finally {
    await rm(spool, { force: true });
  }
}

async function locateFile(incoming: IncomingMessage, field: string, spool: string) {
  const boundary = /boundary=([^;]+)/.exec(incoming.headers['content-type'] ?? '')?.[1];
  if (!boundary) throw badRequest('Content type error');
  const { size } = await stat(spool);
  const file = await open(spool);
  try {
    const head = await readText(file, 0, Math.min(HEAD_BYTES, size));
    const headEnd = head.indexOf('\r\n\r\n');
    const tail = `\r\n--${boundary}--\r\n`;
    const isClosed = (await readText(file, size - tail.length, tail.length)) === tail;
    if (headEnd === -1 || !isClosed) throw badRequest('Multipart stream is incomplete');
    if (!head.includes(`name="${field}"`)) throw badRequest(`Field "${field}" is required`);
    const fileName = /filename="([^"]*)"/.exec(head)?.[1] ?? 'uploaded.snapshot';
    return { fileName, start: headEnd + 4, end: size - tail.length };
  } finally {
    await file.close();
  }
}

async function readText(file: FileHandle, position: number, length: number): Promise<string> {
  if (position < 0) return '';
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('latin1', 0, bytesRead);
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
