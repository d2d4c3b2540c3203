// Tells whether two sources hold the same memories, and how they differ: two collections, a collection and the last common version,
// or a collection and what a report recorded. Every such question is answered here; callers choose the sources, and word the
// result.
import { type Base, mergeVersions, readBaseLines } from '../base.ts';
import { decideFate, digestOfVersion, holdSame, type Version } from '../fate.ts';
import { type Changes, isExcessive } from '../mass-change.ts';
import { readPoints } from '../pairs.ts';
import { listLimits } from '../point-writer.ts';
import { createDigestSum } from '../points.ts';
import type { PointId } from '../ports/vector-store.ts';
import { isRefusal, isRetryableFailure } from '../refusals.ts';
import { countVerified, type Run } from '../runs/run.ts';
import { liveCollectionOf, testUserOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import type { Services } from '../services.ts';

type Scope = Pick<StepRequest, 'services' | 'run'>;

/** Name of a collection, which is read without the test user's memories; or the last common version */
type Source = string | { readonly base: Base | undefined };

/** Sum of the digests of all memories, from a report */
interface Recorded {
  readonly fingerprint: unknown;
}

/** How the standby source differs from the active one */
export interface Tally extends Changes {
  readonly same: number;
  /** Memories that the standby one would get, lose (`removes`) or get anew (`changes`) if it were made equal */
  readonly adds: number;
  /** Changes since the last common version that only the standby one has; of `written`, the active one may have changed some, too */
  readonly late: {
    readonly written: number;
    readonly lacking: number;
    readonly changed: number;
    /** Some of those that the standby one lacks, or has otherwise */
    readonly examples: readonly PointId[];
  };
}

const PAGE = 512;
const MAX_EXAMPLES = 8;

/** Compares memory by memory, in constant memory. @param base last common version; without it, the active version is right */
export async function compare(
  scope: Scope,
  sources: { readonly active: Source; readonly standby: Source; readonly base?: Base | undefined },
): Promise<Tally> {
  const { artifacts } = scope.services;
  const [left, right] = [readVersions(scope, sources.active), readVersions(scope, sources.standby)];
  const found = { points: 0, same: 0, adds: 0, removes: 0, changes: 0 };
  const late = { written: 0, lacking: 0, changed: 0 };
  const examples: PointId[] = [];
  const known = { artifacts, before: sources.base };
  for await (const { id, from: active, to: standby, base } of mergeVersions(left, right, known)) {
    if (standby) found.points += 1;
    const fate = decideFate(active, standby, base);
    if (fate === 'same') {
      found.same += 1;
      continue;
    }
    if (fate !== 'backward') found[!standby ? 'adds' : active ? 'changes' : 'removes'] += 1;
    if (fate === 'backward' && active) {
      late[standby ? 'changed' : 'lacking'] += 1;
      if (examples.length < MAX_EXAMPLES) examples.push(id);
    }
    if (fate === 'conflict' || (fate === 'backward' && standby)) late.written += 1;
  }
  return { ...found, late: { ...late, examples } };
}

/** Compares the sums of all digests: false if either is not known. */
export async function haveSame(
  scope: Scope,
  one: Source,
  other: Source | Recorded,
): Promise<boolean> {
  const known =
    typeof other === 'object' && 'fingerprint' in other
      ? other.fingerprint
      : await sumUp(scope, other);
  return known !== undefined && holdSame({ digest: await sumUp(scope, one) }, { digest: known });
}

/**
 * Compares the numbers alone, at once: how many memories the collection has less, or more, than were verified. The test user's
 * count: a store may refuse to tell them apart, and a rollback must not depend on it.
 */
export async function countDifference({ services: { vectors }, run }: Scope, collection: string) {
  const points = countVerified(run);
  const more = (await vectors.count(collection)) - points;
  return { points, adds: Math.max(0, more), removes: Math.max(0, -more), changes: 0 };
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
  return isRetryableFailure(error) ? error.answer === 500 : isRefusal(error, 'RefusedByService');
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

async function sumUp(scope: Scope, source: Source): Promise<string | undefined> {
  if (typeof source === 'object' && (!source.base || source.base.digest !== undefined)) {
    return source.base?.digest;
  }
  const sum = createDigestSum();
  for await (const version of readVersions(scope, source)) sum.add(digestOfVersion(version));
  return sum.text();
}

async function* readVersions(
  { services, run }: Scope,
  source: Source,
): AsyncGenerator<NonNullable<Version>, undefined, void> {
  const { artifacts, vectors: store } = services;
  if (typeof source === 'object') {
    return yield* readBaseLines(artifacts, source.base?.segments ?? []);
  }
  const info = await store.collectionInfo(source);
  const limit = Math.min(PAGE, ...(info ? listLimits(info) : []));
  const request = { limit, vector: false };
  return yield* readPoints({ store, collection: source }, request, testUserOf(run.runId));
}
