// Compares the memories of two sources: whether they are the same, and how they differ. A source is a collection, the last common
// version, or the sum that a report recorded. Callers choose the sources, and phrase the result.
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

/** Name of a collection, or the last common version. The test user's memories in a collection are left out. */
type Source = string | { readonly base: Base | undefined };

/** Sum of the digests of all memories, from a report */
interface RecordedSum {
  readonly fingerprint: unknown;
}

/** A sum over part of a collection. It stays the same while no client writes to the collection. */
interface SumSource {
  readonly sum: () => Promise<string>;
}

/** Numbers of memories by which the standby source differs from the active one */
export interface Tally extends Changes {
  readonly same: number;
  /** Those of `same` that also equal the last common version; counted only if vectors are compared */
  readonly common: number;
  /**
   * Memories that the standby source would gain if it were made equal to the active one. `removes` and `changes` count those that
   * it would lose or replace.
   */
  readonly adds: number;
  /** Changes of the standby source since the last common version. Some of `written` may have changed in the active source, too. */
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

/** Point at which an interrupted comparison resumes */
export interface ComparisonCursor {
  /** First memory not compared yet */
  readonly next: PointId;
  /** Number of memories that were compared */
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
  /** If given, vectors are compared as well, and a different vector counts as a change. */
  readonly vectors?: VectorRules | undefined;
}

interface Pages {
  readonly pageSize: number;
  readonly walk: Walk<ComparisonCursor>;
  /** Expected number of memories, to show progress */
  readonly total?: number;
}

/** Compares one memory at a time, in constant space, without interruption. */
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
  const comparedBefore = cursor?.compared ?? 0;
  let compared = comparedBefore;
  for await (const pair of mergeVersions(read(active), read(standby), baseAccess)) {
    if (compared > comparedBefore && compared % pageSize === 0) {
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
      const difference = vectors && findDifference(active, standby, vectors);
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

function findDifference(
  active: VersionPair['active'],
  standby: VersionPair['standby'],
  rules: VectorRules,
) {
  if (!active || !standby || 'digest' in active || 'digest' in standby) return undefined;
  return findVectorDifference(active, standby, rules);
}

/** Compares sums of digests. False if either sum is unknown. */
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
 * Compares only the number of memories in the collection with the verified number. The test user's memories are counted, too: a
 * store may refuse to filter by user, and a rollback must not depend on that.
 */
export async function compareCounts({ services: { vectors }, run }: Scope, collection: string) {
  const points = countVerified(run);
  const excess = (await vectors.count(collection)) - points;
  return { points, adds: Math.max(0, excess), removes: Math.max(0, -excess), changes: 0 };
}

/** Says why the new collection cannot be read; undefined if it can. */
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

/** True if waiting does not help: the store answers every request with this error. */
function isPermanent(error: unknown): error is Error {
  return isRetryableFailure(error) ? error.code === 500 : isRefusal(error, 'RefusedByService');
}

/**
 * Counts the writes that a rollback would lose. If the new collection seems to have been emptied, its missing points are not
 * users' deletions: they count as `lacking`.
 * @param restoredCollection collection to compare with; by default, the last common version
 */
export async function countLostWrites(
  scope: Scope,
  restoredCollection?: string,
): Promise<{ readonly leftBehind: number | 'unknown'; readonly lacking?: number }> {
  const { services, run } = scope;
  if ((await whyUnreadable(services, run)) !== undefined) return { leftBehind: 'unknown' };
  const live = liveCollectionOf(run);
  const { adds, changes, removes, points } = await compare(scope, {
    active: live,
    standby: restoredCollection ?? { base: run.base },
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

/** @param scrollOptions which part of a collection is read; the last common version is always read whole */
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
