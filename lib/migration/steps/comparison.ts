// Tells whether two sources hold the same memories, and how they differ: two collections, a collection and the last common version,
// or a collection and what a report recorded. Every such question is answered here; callers choose the sources, and word the
// result. `equalise` compares before it writes, too.
import { type Base, mergeVersions, readBaseLines } from '../base.ts';
import {
  type CommonVersion,
  decideFate,
  digestOfVersion,
  findVectorDifference,
  haveSameDigest,
  isUnchanged,
  type ListedMemory,
  type VectorRules,
} from '../fate.ts';
import { type Changes, isExcessive } from '../mass-change.ts';
import { readPoints } from '../pairs.ts';
import { listLimits } from '../point-writer.ts';
import { createDigestSum } from '../points.ts';
import type { PointId, ScrolledPoint, ScrollRequest } from '../ports/vector-store.ts';
import { isRefusal, isRetryableFailure } from '../refusals.ts';
import { UNINTERRUPTED, type Walk } from '../runs/journal.ts';
import { countVerified, type Run } from '../runs/run.ts';
import { liveCollectionOf, testUserOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import type { Services } from '../services.ts';

type Scope = Pick<StepRequest, 'services' | 'run'>;

/** Name of a collection, which is read without the test user's memories; or the last common version */
type Source = string | { readonly base: Base | undefined };

/** A report's sum of the digests of all memories */
interface RecordedSum {
  readonly fingerprint: unknown;
}

/** A sum over a part of a collection, which stays the same while no client writes to the collection */
interface SumSource {
  readonly sum: () => Promise<string>;
}

/** Numbers of memories by which the standby source differs from the active one */
export interface Tally extends Changes {
  readonly same: number;
  /** Memories of `same` that equal the last common version, too; counted only if vectors are compared */
  readonly common: number;
  /** Memories that the standby source would gain, lose (`removes`) or replace (`changes`) if it were made equal */
  readonly adds: number;
  /** Changes of the standby source alone since the last common version; the active one may have changed some of `written` too */
  readonly late: {
    readonly written: number;
    readonly lacking: number;
    readonly changed: number;
    /** Some of the memories that the standby source lacks or has changed */
    readonly examples: readonly PointId[];
  };
}

const PAGE_SIZE = 512;
const PAGES_PER_SAVE = 8;
const MAX_EXAMPLES = 8;

/** The place where a comparison resumes */
export interface ComparisonCursor {
  /** First memory that was not compared yet */
  readonly next: PointId;
  /** Number of memories that either source has before it */
  readonly compared: number;
  readonly tally: Tally;
}

const EMPTY_TALLY: Tally = {
  points: 0,
  same: 0,
  common: 0,
  adds: 0,
  removes: 0,
  changes: 0,
  late: { written: 0, lacking: 0, changed: 0, examples: [] },
};

interface Sources {
  readonly active: Source;
  readonly standby: Source;
  /** Last common version; without it, the active version prevails. */
  readonly base?: Base | undefined;
  /** With these rules vectors are compared as well, and a different vector counts as a change. */
  readonly vectors?: VectorRules | undefined;
}

interface Pages {
  readonly pageSize: number;
  readonly walk: Walk<ComparisonCursor>;
  /** Memories that the walk is expected to compare */
  readonly total?: number;
}

/** Compares one memory at a time, in constant space. */
export async function compare(scope: Scope, sources: Sources): Promise<Tally> {
  return await comparePages(scope, sources, { pageSize: PAGE_SIZE, walk: UNINTERRUPTED });
}

/** @throws Paused when time is up */
export async function comparePages(
  scope: Scope,
  { active, standby, vectors, base: previous }: Sources,
  { pageSize, walk: { cursor, checkpoint }, total = 0 }: Pages,
): Promise<Tally> {
  const scrollOptions = {
    offset: cursor?.next ?? null,
    limit: pageSize,
    vector: vectors !== undefined,
  };
  const read = (source: Source) => readVersions(scope, source, scrollOptions);
  const baseAccess = { artifacts: scope.services.artifacts, previous };
  const tally = createTally(cursor?.tally ?? EMPTY_TALLY, vectors);
  const start = cursor?.compared ?? 0;
  let compared = start;
  for await (const pair of mergeVersions(read(active), read(standby), baseAccess)) {
    if (compared > start && compared % pageSize === 0) {
      const isDue = compared % (pageSize * PAGES_PER_SAVE) === 0;
      const progress = { done: compared, total };
      await checkpoint(() => ({ next: pair.id, compared, tally: tally.read() }), {
        isDue,
        progress,
      });
    }
    tally.add(pair);
    compared += 1;
  }
  return tally.read();
}

interface VersionPair {
  readonly id: PointId;
  readonly active: ScrolledPoint | ListedMemory | undefined;
  readonly standby: ScrolledPoint | ListedMemory | undefined;
  readonly base: CommonVersion;
}

function createTally(previous: Tally, vectors: VectorRules | undefined) {
  const counts = { ...previous };
  const late = { ...previous.late };
  const examples = [...late.examples];

  function add({ id, active, standby, base }: VersionPair): void {
    if (standby) counts.points += 1;
    const fate = decideFate(active, standby, base);
    if (fate === 'same') {
      const difference = vectors && compareVectors(active, standby, vectors);
      if (difference === 'vector') counts.changes += 1;
      if (difference !== undefined) return;
      counts.same += 1;
      if (vectors && isUnchanged(standby, base)) counts.common += 1;
      return;
    }
    if (fate !== 'backward') counts[!standby ? 'adds' : active ? 'changes' : 'removes'] += 1;
    if (fate === 'backward' && active) {
      late[standby ? 'changed' : 'lacking'] += 1;
      if (examples.length < MAX_EXAMPLES) examples.push(id);
    }
    if (fate === 'conflict' || (fate === 'backward' && standby)) late.written += 1;
  }

  return { add, read: (): Tally => ({ ...counts, late: { ...late, examples: [...examples] } }) };
}

function compareVectors(
  active: VersionPair['active'],
  standby: VersionPair['standby'],
  rules: VectorRules,
) {
  if (!active || !standby || 'digest' in active || 'digest' in standby) return undefined;
  return findVectorDifference(active, standby, rules);
}

/** Compares the sums of all digests: false if either is unknown. */
export async function haveSameMemories(
  scope: Scope,
  first: Source | SumSource,
  second: Source | RecordedSum,
): Promise<boolean> {
  const secondSum =
    typeof second === 'object' && 'fingerprint' in second
      ? second.fingerprint
      : await sumDigests(scope, second);
  if (secondSum === undefined) return false;
  return haveSameDigest({ digest: await sumDigests(scope, first) }, { digest: secondSum });
}

/**
 * Compares only the number of memories in the collection with the verified number. Memories of the test user are counted, too: a
 * store may refuse to tell them apart, and a rollback must not depend on it.
 */
export async function compareCounts({ services: { vectors }, run }: Scope, collection: string) {
  const points = countVerified(run);
  const excess = (await vectors.count(collection)) - points;
  return { points, adds: Math.max(0, excess), removes: Math.max(0, -excess), changes: 0 };
}

/** Why the new collection cannot be read; undefined if it can. */
export async function whyUnreadable({ vectors }: Services, run: Run): Promise<string | undefined> {
  const live = liveCollectionOf(run);
  if (!(await vectors.listCollections()).includes(live)) return `${live} was deleted`;
  try {
    await vectors.scroll(live, { limit: 1 });
    return undefined;
  } catch (error) {
    if (!isPermanent(error)) throw error;
    return `${live} cannot be read (${error.message})`;
  }
}

/** True for an error that waiting would not cure: the store repeats it on every request. */
function isPermanent(error: unknown): error is Error {
  return isRetryableFailure(error) ? error.code === 500 : isRefusal(error, 'RefusedByService');
}

/**
 * Counts the writes that a return would lose. If the new collection seems to have been emptied, its missing points are
 * not users' deletions: they count as `lacking`.
 * @param restored compares with this collection; without it, with the last common version
 */
export async function countLostWrites(
  scope: Scope,
  restored?: string,
): Promise<{ readonly leftBehind: number | 'unknown'; readonly lacking?: number }> {
  const { services, run } = scope;
  if ((await whyUnreadable(services, run)) !== undefined) return { leftBehind: 'unknown' };
  const live = liveCollectionOf(run);
  const { adds, changes, removes, points } = await compare(scope, {
    active: live,
    standby: restored ?? { base: run.base },
  });
  const isEmptied = isExcessive({ removes, changes: 0, points });
  if (isEmptied) return { leftBehind: adds + changes, lacking: removes };
  return { leftBehind: adds + changes + removes };
}

async function sumDigests(scope: Scope, source: Source | SumSource): Promise<string | undefined> {
  if (typeof source === 'object' && 'sum' in source) return await source.sum();
  if (typeof source === 'object' && (!source.base || source.base.digest !== undefined)) {
    return source.base?.digest;
  }
  const sum = createDigestSum();
  for await (const version of readVersions(scope, source)) sum.add(digestOfVersion(version));
  return sum.toHex();
}

/** @param scrollOptions the part of a collection to read; the last common version is read whole */
async function* readVersions(
  { services, run }: Scope,
  source: Source,
  scrollOptions: ScrollRequest = { limit: PAGE_SIZE, vector: false },
): AsyncGenerator<ScrolledPoint | ListedMemory, undefined, void> {
  const { artifacts, vectors: store } = services;
  if (typeof source === 'object') {
    return yield* readBaseLines(artifacts, source.base?.segments ?? []);
  }
  const info = await store.readCollectionInfo(source);
  const limit = Math.min(scrollOptions.limit, ...(info ? listLimits(info) : []));
  const request = { ...scrollOptions, limit };
  return yield* readPoints({ store, collection: source }, request, testUserOf(run.runId));
}
