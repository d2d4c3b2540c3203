// Storage for backups and reports: named byte streams, each with its digest, some protected from deletion until a day. Small
// ones are JSON documents that people can read as well.
import { createHash, hash } from 'node:crypto';
import { Refusal } from '../refusals.ts';

export interface Artifact {
  readonly key: string;
  readonly bytes: number;
  /** Hex, computed while the content went by. */
  readonly sha256: string;
  readonly retainUntil: Date | undefined;
}

export type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export type ArtifactStore = ReturnType<typeof createArtifactStore>;

/** Keeps the bytes; an artifact store makes artifacts of them. */
interface ArtifactBytes {
  /** Undefined for what has no record. */
  find(key: string): Promise<Artifact | undefined>;
  /** All of it or nothing. The record of what was there goes with it, and so does what an interrupted write left. */
  write(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  record(artifact: Artifact): Promise<void>;
  read(key: string): AsyncIterable<Uint8Array>;
  /** In order. */
  keys(prefix: string): AsyncIterable<string>;
  remove(key: string): Promise<void>;
  /** Unfinished ones, too. */
  removeAll(prefix: string): Promise<void>;
}

/** The rules of artifacts, wherever their bytes are. The record is written last: what has none was never put as a whole. */
export function createArtifactStore(bytes: ArtifactBytes, now: () => Date) {
  /** Undefined for what was never put as a whole. */
  async function head(key: string): Promise<Artifact | undefined> {
    assertArtifactKey(key);
    return await bytes.find(key);
  }

  async function required(key: string): Promise<Artifact> {
    const artifact = await head(key);
    if (artifact) return artifact;
    throw new Refusal('RefusedMissingArtifact', `There is no artifact ${key}.`);
  }

  function assertReplaceable(artifact: Artifact | undefined): void {
    const until = artifact?.retainUntil;
    if (!artifact || !until || until <= now()) return;
    const why = `The artifact ${artifact.key} is to be kept until ${until.toISOString()}.`;
    throw new Refusal('RefusedNotNow', why);
  }

  /**
   * Keeps the content under the key, in place of what was there; all of it or nothing.
   * @throws Refusal when what is there must be kept
   */
  async function put(key: string, source: Content): Promise<Artifact> {
    assertReplaceable(await head(key));
    const { content, measure } = measuring(source);
    await bytes.write(key, content);
    const artifact = { key, ...measure(), retainUntil: undefined };
    await bytes.record(artifact);
    return artifact;
  }

  /** @throws Refusal where there is none */
  async function* get(key: string): AsyncIterable<Uint8Array> {
    await required(key);
    yield* bytes.read(key);
  }

  /** In the order of their keys. */
  async function* list(prefix: string): AsyncIterable<Artifact> {
    for await (const key of bytes.keys(prefix)) {
      const artifact = isArtifactKey(key) ? await head(key) : undefined;
      if (artifact) yield artifact;
    }
  }

  /** Forbids deletion until then; what is already to be kept for longer stays so. */
  async function retain(key: string, until: Date): Promise<void> {
    const artifact = await required(key);
    const { retainUntil = until } = artifact;
    await bytes.record({ ...artifact, retainUntil: retainUntil > until ? retainUntil : until });
  }

  /** Done already when nothing is there. @throws Refusal when it must be kept */
  async function remove(key: string): Promise<void> {
    assertReplaceable(await head(key));
    await bytes.remove(key);
  }

  /** Looks at all whose key begins so before anything goes: nothing goes while anything has to stay. */
  async function deleteAll(prefix: string): Promise<void> {
    if (prefix === '') throw new TypeError('All artifacts at once have no prefix');
    assertArtifactKey(`${prefix}x`);
    let longest: Artifact | undefined;
    for await (const artifact of list(prefix)) {
      if ((artifact.retainUntil ?? 0) > (longest?.retainUntil ?? 0)) longest = artifact;
    }
    assertReplaceable(longest);
    await bytes.removeAll(prefix);
  }

  return { put, head, get, list, retain, delete: remove, deleteAll };
}

const PART = /^[\w-][\w.-]*$/;
const MAX_KEY_LENGTH = 512;

/** A relative path that is safe on every file system: no dots at the start of a part. */
export function isArtifactKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && text.split('/').every((part) => PART.test(part));
}

/** Key of one part; parts sort in the order of their keys. */
export function partKey(prefix: string, part: number): string {
  return `${prefix}-part-${String(part).padStart(5, '0')}`;
}

/** @throws TypeError */
function assertArtifactKey(key: string): void {
  if (isArtifactKey(key)) return;
  throw new TypeError(
    `"${key}" is no key of an artifact: up to ${MAX_KEY_LENGTH} letters, digits, "-", "_", "." in parts between "/"`,
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
 * @param digest SHA-256 that it was written with, hexadecimal
 * @throws Refusal when it is missing, or is another document than that
 */
export async function readJson(
  artifacts: ArtifactStore,
  key: string,
  digest?: string,
): Promise<unknown> {
  const bytes = Buffer.concat(await Array.fromAsync(artifacts.get(key)));
  if (digest !== undefined) assertRecorded(key, hash('sha256', bytes), digest);
  return JSON.parse(bytes.toString());
}

/** @throws Refusal when what was read has another digest than was recorded */
export function assertRecorded(key: string, sha256: string, digest: string): void {
  if (sha256 === digest) return;
  throw new Refusal('RefusedMissingArtifact', `${key} is not what was recorded.`);
}

export interface Measure {
  readonly bytes: number;
  readonly sha256: string;
}

/** The measure is of all that went by until now: to be asked for once, at the end. */
export function measuring(source: Content) {
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

/** Reads a stream for its measure alone. */
export async function measureStream(source: AsyncIterable<Uint8Array>): Promise<Measure> {
  const { content, measure } = measuring(source);
  for await (const _ of content);
  return measure();
}

/** A row with the longest texts that anyone keeps in a graph; a longer one may be a small file that inflates. */
export const MAX_LINE_LENGTH = 16 * 1024 * 1024;

/**
 * Not by node:readline, for which U+2028 ends a line as well: JSON leaves it inside of text.
 * @throws SyntaxError when the last line is cut short, or one is longer than MAX_LINE_LENGTH
 */
export async function* splitLines(content: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // Joined when the line is whole: joined at every chunk, a long line takes time by its square.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of content) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(first);
    length += first.length;
    if (length > MAX_LINE_LENGTH) {
      throw new SyntaxError(`A line is longer than ${MAX_LINE_LENGTH} characters`);
    }
    const last = others.pop();
    if (last === undefined) continue;
    yield parts.join('');
    yield* others;
    parts = [last];
    length = last.length;
  }
  if (parts.join('') + decoder.decode()) throw new SyntaxError('The last line is cut short');
}

export async function* batches<Row>(
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
