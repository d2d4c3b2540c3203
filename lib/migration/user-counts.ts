// How many memories each user has, by a hash of the user: a million users in 24 MB, and no id that a person could read.
import { type ArtifactStore, measureOf, splitLines } from './ports/artifacts.ts';
import { Refusal } from './refusals.ts';

interface UserCount {
  /** As `userDigest` names the user. */
  readonly user: string;
  readonly points: number;
}

export type UserCounts = ReturnType<typeof createUserCounts>;

const SMALLEST = 1_024;

/** Open addressing over the first 8 bytes of a user's SHA-256. Two of a million users share them once in 37 million. */
export function createUserCounts() {
  let table = emptyTable(SMALLEST);
  let size = 0;

  function add(hash: Uint8Array, points = 1): void {
    const bytes = new DataView(hash.buffer, hash.byteOffset);
    put(bytes.getUint32(0), bytes.getUint32(4), points);
  }

  function put(high: number, low: number, points: number): void {
    const at = slotOf(table, high, low);
    if (table.points[at] === 0) size += 1;
    table.high[at] = high;
    table.low[at] = low;
    table.points[at] = (table.points[at] ?? 0) + points;
    if (size * 2 > table.points.length) grow();
  }

  function grow(): void {
    const old = table;
    table = emptyTable(old.points.length * 2);
    size = 0;
    for (const [at, points] of old.points.entries()) {
      if (points > 0) put(old.high[at] ?? 0, old.low[at] ?? 0, points);
    }
  }

  function* entries(): Generator<UserCount> {
    for (const [at, points] of table.points.entries()) {
      if (points > 0) yield { user: nameOf(table.high[at] ?? 0, table.low[at] ?? 0), points };
    }
  }

  function pointsOf(user: string): number {
    const [high, low] = keyOf(user);
    return table.points[slotOf(table, high, low)] ?? 0;
  }

  return {
    size: () => size,
    add,
    addUser({ user, points }: UserCount): void {
      put(...keyOf(user), points);
    },
    pointsOf,
    entries,
    /** Those with most memories, first. */
    largest: (limit: number) => largestOf(entries(), limit),
  };
}

function emptyTable(slots: number) {
  return {
    high: new Uint32Array(slots),
    low: new Uint32Array(slots),
    /** 0 in a free slot. */
    points: new Uint32Array(slots),
  };
}

function slotOf(table: ReturnType<typeof emptyTable>, high: number, low: number): number {
  const mask = table.points.length - 1;
  let at = low & mask;
  while (table.points[at] !== 0 && (table.high[at] !== high || table.low[at] !== low)) {
    at = (at + 1) & mask;
  }
  return at;
}

function nameOf(high: number, low: number): string {
  return `user-${hex(high)}${hex(low)}`;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

function keyOf(user: string): [number, number] {
  const digits = user.slice('user-'.length);
  return [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8), 16)];
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

interface CountDifference {
  readonly user: string;
  /** How many more than before; below zero: fewer. */
  readonly by: number;
}

export function* countDifferences(
  before: UserCounts,
  after: UserCounts,
): Generator<CountDifference> {
  for (const { user, points } of after.entries()) {
    const by = points - before.pointsOf(user);
    if (by !== 0) yield { user, by };
  }
  for (const { user, points } of before.entries()) {
    if (after.pointsOf(user) === 0) yield { user, by: -points };
  }
}

const LINES_AT_ONCE = 2_000;

/** One line for each user. */
export async function* userCountLines(counts: UserCounts): AsyncGenerator<Uint8Array> {
  let lines: string[] = [];
  for (const { user, points } of counts.entries()) {
    lines.push(`${user} ${points}\n`);
    if (lines.length < LINES_AT_ONCE) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }
  yield Buffer.from(lines.join(''));
}

/** @throws MissingArtifactError; Refusal when it is not what was recorded */
export async function readUserCounts(
  artifacts: ArtifactStore,
  { artifact, digest }: { readonly artifact: string; readonly digest: string },
): Promise<UserCounts> {
  const { sha256 } = await measureOf(artifacts.get(artifact));
  if (sha256 !== digest) {
    throw new Refusal('RefusedMissingArtifact', `${artifact} is not what was recorded.`);
  }
  const counts = createUserCounts();
  for await (const line of splitLines(artifacts.get(artifact))) {
    const [user = '', points = ''] = line.split(' ');
    counts.addUser({ user, points: Number(points) });
  }
  return counts;
}
