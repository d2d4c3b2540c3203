// Where backups and reports are kept: named byte streams, each with its digest, some not to be deleted until a day.
import { Refusal } from '../refusals.ts';

export interface Artifact {
  readonly key: string;
  readonly bytes: number;
  /** Hex, computed while the content went by. */
  readonly sha256: string;
  readonly retainUntil: Date | undefined;
}

/** First and last byte, both included; to the end without the last. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

export interface ArtifactStore {
  /**
   * Keeps the content under the key, in place of what was there; all of it or nothing.
   * What an earlier, interrupted put of the same key left behind is cleared away.
   * @throws Refusal when what is there must be kept
   */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<Artifact>;
  /** Undefined for what was never put as a whole. */
  head(key: string): Promise<Artifact | undefined>;
  /** @throws Refusal where there is none */
  get(key: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** In the order of their keys. */
  list(prefix: string): AsyncIterable<Artifact>;
  /**
   * Forbids deletion until then; what is already to be kept for longer stays so.
   * @throws Refusal where there is none
   */
  retain(key: string, until: Date): Promise<void>;
  /**
   * Done already when nothing is there.
   * @throws Refusal
   */
  delete(key: string): Promise<void>;
  /**
   * Everything whose key begins so, what was never put as a whole included. Looks first, so that nothing goes
   * while anything has to stay; begun again, it goes on.
   * @throws Refusal
   */
  deleteAll(prefix: string): Promise<void>;
}

export function missingArtifact(key: string): Refusal {
  return new Refusal('RefusedMissingArtifact', `There is no artifact ${key}.`);
}

const PART = /^[\w-][\w.-]*$/;
const LONGEST_KEY = 512;

/** A relative path that is safe on every file system: no dots at the start of a part. */
export function isArtifactKey(text: string): boolean {
  return text.length <= LONGEST_KEY && text.split('/').every((part) => PART.test(part));
}

/** @throws TypeError */
export function assertArtifactKey(key: string): void {
  if (isArtifactKey(key)) return;
  throw new TypeError(
    `"${key}" is no key of an artifact: up to ${LONGEST_KEY} letters, digits, "-", "_", "." in parts between "/"`,
  );
}

/** Never of everything there is. @throws TypeError */
export function assertArtifactPrefix(prefix: string): void {
  if (prefix === '') throw new TypeError('All artifacts at once have no prefix');
  assertArtifactKey(`${prefix}x`);
}

/** @throws Refusal while the artifact is to be kept */
export function assertReplaceable(artifact: Artifact | undefined, now: Date): void {
  const until = artifact?.retainUntil;
  if (!artifact || !until || until <= now) return;
  const why = `The artifact ${artifact.key} is to be kept until ${until.toISOString()}.`;
  throw new Refusal('RefusedRetained', why);
}

/** @throws Refusal for the one of them that is to be kept longest */
export async function assertAllReplaceable(
  artifacts: AsyncIterable<Artifact>,
  now: Date,
): Promise<void> {
  let longest: Artifact | undefined;
  for await (const artifact of artifacts) {
    if ((artifact.retainUntil ?? 0) > (longest?.retainUntil ?? 0)) longest = artifact;
  }
  assertReplaceable(longest, now);
}

/** The later of both days. */
export function longerRetention(artifact: Artifact, until: Date): Date {
  const { retainUntil } = artifact;
  return retainUntil && retainUntil > until ? retainUntil : until;
}
