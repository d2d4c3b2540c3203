// How many memories each user has, by a hash of the user: a million users in 24 MB, and no id that a person could read.
import { type ArtifactStore, batches, measureOf, splitLines } from './ports/artifacts.ts';
import { Refusal } from './refusals.ts';

export interface UserCount {
  /** As `userDigest` names the user. */
  readonly user: string;
  readonly points: number;
}

export type UserCounts = ReturnType<typeof createUserCounts>;

const SMALLEST = 1_024;

/** No user: of a million users one has this hash once in 18 million million times. */
const FREE = 0n;

/** Open addressing over the first 8 bytes of a user's SHA-256. Two of a million users share them once in 37 million. */
export function createUserCounts() {
  let keys = new BigUint64Array(SMALLEST);
  let points = new Int32Array(SMALLEST);
  let size = 0;

  function slotOf(key: bigint): number {
    let at = Number(key % BigInt(keys.length));
    while (keys[at] !== FREE && keys[at] !== key) at = (at + 1) % keys.length;
    return at;
  }

  function put(key: bigint, by: number): void {
    const at = slotOf(key);
    if (keys[at] === FREE) size += 1;
    keys[at] = key;
    points[at] = (points[at] ?? 0) + by;
    if (size * 2 > keys.length) grow();
  }

  function grow(): void {
    const old = { keys, points };
    keys = new BigUint64Array(old.keys.length * 2);
    points = new Int32Array(keys.length);
    size = 0;
    for (const [at, key] of old.keys.entries()) if (key !== FREE) put(key, old.points[at] ?? 0);
  }

  function* entries(): Generator<UserCount> {
    for (const [at, key] of keys.entries()) {
      const user = `user-${key.toString(16).padStart(16, '0')}`;
      if (points[at]) yield { user, points: points[at] };
    }
  }

  return {
    size: () => size,
    add: (hash: Buffer, by = 1) => put(hash.readBigUInt64BE(), by),
    /** What is left are the differences. */
    subtract: ({ user, points }: UserCount) => put(keyOf(user), -points),
    pointsOf: (user: string) => points[slotOf(keyOf(user))] ?? 0,
    /** Without those that have none. */
    entries,
    /** Those with most memories, first. */
    largest: (limit: number) => largestOf(entries(), limit),
  };
}

function keyOf(user: string): bigint {
  return BigInt(`0x${user.slice('user-'.length)}`);
}

function largestOf(entries: Iterable<UserCount>, limit: number): UserCount[] {
  let largest: UserCount[] = [];
  for (const entry of entries) {
    largest.push(entry);
    if (largest.length > 2 * limit) largest = sorted(largest).slice(0, limit);
  }
  return sorted(largest).slice(0, limit);
}

function sorted(counts: readonly UserCount[]): UserCount[] {
  return counts.toSorted(
    (one, other) => other.points - one.points || (one.user < other.user ? -1 : 1),
  );
}

const LINES_AT_ONCE = 2_000;

/** One line for each user. */
export async function* userCountLines(counts: UserCounts): AsyncGenerator<Uint8Array> {
  for await (const batch of batches(counts.entries(), LINES_AT_ONCE)) {
    yield Buffer.from(batch.map(({ user, points }) => `${user} ${points}\n`).join(''));
  }
}

/** @throws Refusal when it is missing, or is not what was recorded */
export async function* readUserCounts(
  artifacts: ArtifactStore,
  { artifact, digest }: { readonly artifact: string; readonly digest: string },
): AsyncGenerator<UserCount> {
  const { sha256 } = await measureOf(artifacts.get(artifact));
  if (sha256 !== digest) {
    throw new Refusal('RefusedMissingArtifact', `${artifact} is not what was recorded.`);
  }
  for await (const line of splitLines(artifacts.get(artifact))) {
    const [user = '', points = ''] = line.split(' ');
    yield { user, points: Number(points) };
  }
}
