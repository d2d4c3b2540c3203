// Storage for backups and reports: named byte streams, each with its digest, some protected from deletion until a date. Reports
// are JSON documents that people can read.
import { createHash, hash } from 'node:crypto';
import { Refusal } from '../refusals.ts';

export interface Artifact {
  readonly key: string;
  readonly bytes: number;
  /** Hexadecimal, computed while the content was written */
  readonly sha256: string;
  readonly retainUntil: Date | undefined;
}

export type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export type ArtifactStore = ReturnType<typeof createArtifactStore>;

/** The storage under an artifact store, which adds the rules */
interface ArtifactBytes {
  /** Undefined if the artifact has no record */
  find(key: string): Promise<Artifact | undefined>;
  /** Writes all or nothing. Removes the earlier record, and what an interrupted write left. */
  write(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  record(artifact: Artifact): Promise<void>;
  read(key: string): AsyncIterable<Uint8Array>;
  /** Lists keys in sorted order. */
  listKeys(prefix: string): AsyncIterable<string>;
  remove(key: string): Promise<void>;
  /** Also removes unfinished writes. */
  removeAll(prefix: string): Promise<void>;
}

/** Applies the rules of artifacts to any storage. The record is written last: bytes without a record are an incomplete write. */
export function createArtifactStore(storage: ArtifactBytes, now: () => Date) {
  /** Undefined unless the artifact is complete */
  async function find(key: string): Promise<Artifact | undefined> {
    assertArtifactKey(key);
    return await storage.find(key);
  }

  async function requireArtifact(key: string): Promise<Artifact> {
    const artifact = await find(key);
    if (artifact) return artifact;
    throw new Refusal('RefusedMissingArtifact', `There is no artifact ${key}.`);
  }

  function assertReplaceable(artifact: Artifact | undefined): void {
    const keepUntil = artifact?.retainUntil;
    if (!artifact || !keepUntil || keepUntil <= now()) return;
    const why = `The artifact ${artifact.key} must be kept until ${keepUntil.toISOString()}.`;
    throw new Refusal('RefusedNotNow', why);
  }

  /**
   * Stores the content under the key, all or nothing. Replaces an earlier artifact.
   * @throws Refusal if the earlier artifact must be kept
   */
  async function put(key: string, source: Content): Promise<Artifact> {
    assertReplaceable(await find(key));
    const { content, measure } = measureContent(source);
    await storage.write(key, content);
    const artifact = { key, ...measure(), retainUntil: undefined };
    await storage.record(artifact);
    return artifact;
  }

  /** @throws Refusal if there is no such artifact */
  async function* get(key: string): AsyncIterable<Uint8Array> {
    await requireArtifact(key);
    yield* storage.read(key);
  }

  /** Lists artifacts in the order of their keys. */
  async function* list(prefix: string): AsyncIterable<Artifact> {
    for await (const key of storage.listKeys(prefix)) {
      const artifact = isArtifactKey(key) ? await find(key) : undefined;
      if (artifact) yield artifact;
    }
  }

  /** Forbids deletion until the date. Never shortens a longer retention. */
  async function retain(key: string, until: Date): Promise<void> {
    const artifact = await requireArtifact(key);
    const { retainUntil = until } = artifact;
    await storage.record({ ...artifact, retainUntil: retainUntil > until ? retainUntil : until });
  }

  /** Can be repeated. @throws Refusal if the artifact must be kept */
  async function remove(key: string): Promise<void> {
    assertReplaceable(await find(key));
    await storage.remove(key);
  }

  /** Deletes all artifacts with this prefix, or none if one of them must be kept. @throws Refusal */
  async function deleteAll(prefix: string): Promise<void> {
    if (prefix === '') throw new TypeError('An empty prefix would delete all artifacts');
    assertArtifactKey(`${prefix}x`);
    let longestKept: Artifact | undefined;
    for await (const artifact of list(prefix)) {
      if ((artifact.retainUntil ?? 0) > (longestKept?.retainUntil ?? 0)) longestKept = artifact;
    }
    assertReplaceable(longestKept);
    await storage.removeAll(prefix);
  }

  return { put, find, get, list, retain, delete: remove, deleteAll };
}

const KEY_PART = /^[\w-][\w.-]*$/;
const MAX_KEY_LENGTH = 512;

/** True for a relative path that is safe on every file system: no part starts with a dot. */
export function isArtifactKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && text.split('/').every((part) => KEY_PART.test(part));
}

/** Formats the key of a part; the keys of all parts sort in the order of the parts. */
export function formatPartKey(prefix: string, part: number): string {
  return `${prefix}-part-${String(part).padStart(5, '0')}`;
}

/** @throws TypeError */
function assertArtifactKey(key: string): void {
  if (isArtifactKey(key)) return;
  throw new TypeError(
    `"${key}" is not the key of an artifact: up to ${MAX_KEY_LENGTH} letters, digits, "-", "_", "." in parts between "/"`,
  );
}

export async function writeJson(
  artifacts: ArtifactStore,
  key: string,
  document: unknown,
): Promise<Artifact> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  return await artifacts.put(key, [Buffer.from(text)]);
}

/**
 * @param recordedDigest recorded SHA-256, hexadecimal
 * @throws Refusal if the document is missing or has another digest
 */
export async function readJson(
  artifacts: ArtifactStore,
  key: string,
  recordedDigest?: string,
): Promise<unknown> {
  const bytes = Buffer.concat(await Array.fromAsync(artifacts.get(key)));
  if (recordedDigest !== undefined) assertRecorded(key, hash('sha256', bytes), recordedDigest);
  return JSON.parse(bytes.toString());
}

/** @throws Refusal if the digests differ */
export function assertRecorded(key: string, actualDigest: string, recordedDigest: string): void {
  if (actualDigest === recordedDigest) return;
  throw new Refusal('RefusedMissingArtifact', `${key} differs from what was recorded.`);
}

export interface Measure {
  readonly bytes: number;
  readonly sha256: string;
}

/** Measures a stream while it is read. Call `measure` once, at the end. */
export function measureContent(source: Content) {
  const digest = createHash('sha256');
  let bytes = 0;

  async function* content() {
    for await (const chunk of source) {
      digest.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }

  return { content: content(), measure: (): Measure => ({ bytes, sha256: digest.digest('hex') }) };
}

/** Reads a stream only to measure it. */
export async function measureStream(source: AsyncIterable<Uint8Array>): Promise<Measure> {
  const { content, measure } = measureContent(source);
  for await (const _ of content);
  return measure();
}

/** No row of a real graph is this long; a longer line may come from a malicious compressed file. */
export const MAX_LINE_LENGTH = 16 * 1024 * 1024;

/**
 * Splits only at newlines; node:readline also splits at U+2028, which JSON allows inside strings.
 * @throws SyntaxError if the last line is cut short, or any line is longer than MAX_LINE_LENGTH
 */
export async function* splitLines(content: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // Parts are joined when the line is complete: joining at every chunk would take quadratic time.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of content) {
    const [lineEnd = '', ...otherLines] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(lineEnd);
    length += lineEnd.length;
    if (length > MAX_LINE_LENGTH) {
      throw new SyntaxError(`A line is longer than ${MAX_LINE_LENGTH} characters`);
    }
    const nextLine = otherLines.pop();
    if (nextLine === undefined) continue;
    yield parts.join('');
    yield* otherLines;
    parts = [nextLine];
    length = nextLine.length;
  }
  if (parts.join('') + decoder.decode()) throw new SyntaxError('The last line is cut short');
}

export async function* splitIntoBatches<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  size: number,
): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
