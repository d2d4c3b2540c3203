// The sandbox's own snapshot format: a line with the settings, a line for each point, and a closing line with the number of
// points.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import { scanJson } from '../../lib/migration/json/json-scanner.ts';
import { splitLines } from '../../lib/migration/ports/artifacts.ts';
import type { Collection } from './collection.ts';
import { formatPayload, toPayload } from './payloads.ts';
import { toIdText, toPointKey } from './point-ids.ts';
import type { StoredPoint } from './point-table.ts';
import { internal, type Refusal } from './refusal.ts';
import { formatVectors, readVectors } from './vectors.ts';

export interface SnapshotHead {
  readonly version: string;
  readonly settings: Schemas['CreateCollection'];
  readonly indexes: readonly (readonly [string, Schemas['PayloadFieldSchema']])[];
}

interface SnapshotContents {
  readonly version: string;
  readonly collection: Collection;
}

/** Writes the current points, unaffected by later writes. @returns the SHA-256 of the file */
export async function writeSnapshotFile(file: string, contents: SnapshotContents): Promise<string> {
  const points = [...contents.collection.points.from(undefined)];
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(Readable.from(serializeLines(contents, points)), hashing, createWriteStream(file));
  return hash.digest('hex');
}

function* serializeLines(
  { version, collection }: SnapshotContents,
  points: readonly StoredPoint[],
) {
  const { params, strictMode, metadata, indexes, tuning } = collection;
  const settings = {
    ...params,
    ...tuning,
    strict_mode_config: strictMode,
    ...(metadata && { metadata }),
  };
  yield `${JSON.stringify({ version, settings, indexes: [...indexes] } satisfies SnapshotHead)}\n`;
  for (const point of points) yield `${formatPoint(point)}\n`;
  yield `{"end":${points.length}}\n`;
}

function formatPoint(point: StoredPoint): string {
  const id = toIdText(point.key);
  return `{"id":${id},"payload":${formatPayload(point.payload, true)},"vector":${formatVectors(point, true)}}`;
}

export async function readSnapshotHead(file: string): Promise<SnapshotHead> {
  const { settings, version, indexes } = parseHead(await readFirstLine(file));
  if (!settings || !version || !indexes) throw internal('Failed to unpack the snapshot archive');
  return { settings, version, indexes };
}

function parseHead(line: string): Partial<SnapshotHead> {
  try {
    return JSON.parse(line) as Partial<SnapshotHead>;
  } catch {
    return {};
  }
}

/** @throws Refusal if the file is damaged; the points before the damage stay in the collection */
export async function restorePoints(file: string, version: string, collection: Collection) {
  const { points } = collection;
  let last = '';
  for await (const line of readLines(file)) {
    if (last.startsWith('{"id":')) points.put(readPointLine(last, version, collection));
    last = line;
  }
  if (last !== `{"end":${points.size()}}`) throw createDamageError('unexpected end of file');
}

async function* readLines(file: string): AsyncGenerator<string> {
  try {
    yield* splitLines(createReadStream(file));
  } catch (error) {
    throw error instanceof SyntaxError ? createDamageError(error.message) : error;
  }
}

function readPointLine(line: string, version: string, { params }: Collection): StoredPoint {
  const { id = '', vector = '', payload } = parsePoint(line);
  const vectors = readVectors(vector, { version, params });
  return { key: toPointKey(id), payload: toPayload(payload), ...vectors };
}

function parsePoint(line: string) {
  try {
    return scanJson(line).texts();
  } catch {
    throw createDamageError('not a point');
  }
}

async function readFirstLine(file: string): Promise<string> {
  const input = createReadStream(file);
  try {
    for await (const line of splitLines(input)) return line;
    return '';
  } finally {
    input.destroy();
  }
}

function createDamageError(reason: string): Refusal {
  return internal(`Failed to restore shard: segment is damaged: ${reason}`);
}
