// The base of a three-way comparison: the last common version of both collections. It is a list of each memory's id and digest,
// sorted by id, in artifacts. A comparison reads the base of the previous comparison, and writes its own as it proceeds.
import * as v from 'valibot';
import type { CommonVersion, ListedMemory } from './fate.ts';
import { mergeById, type Pair, type Sorted } from './pairs.ts';
import { comparePointIds, createDigestSum } from './points.ts';
import { type ArtifactStore, formatPartKey, splitLines } from './ports/artifacts.ts';
import type { PointId } from './ports/vector-store.ts';

const idSchema = v.custom<PointId>((value) => typeof value === 'string');

const segmentSchema = v.strictObject({
  prefix: v.string(),
  parts: v.number(),
  /** Lines before this id are ignored, because the segments listed before this one replace them; null if none are ignored */
  from: v.nullable(idSchema),
});

export const baseSchema = v.strictObject({
  segments: v.array(segmentSchema),
  /** Present if the base covers only ids before this one: its walk is unfinished, and no earlier base covers the rest. */
  knownTo: v.optional(idSchema),
  /** Digest of the whole collection; absent until the walk has ended */
  digest: v.optional(v.string()),
  points: v.optional(v.number()),
  /** Ids of pending inserts into either collection, recorded before the inserts are sent */
  making: v.optional(v.array(idSchema)),
});

export type Base = v.InferOutput<typeof baseSchema>;

/** Segments that a walk has written so far, with the digest and number of their points */
export interface BaseProgress {
  readonly segments: Base['segments'];
  readonly digest: string;
  readonly points: number;
}

export interface BaseAccess {
  readonly artifacts: ArtifactStore;
  /** Base from the previous walk; if undefined, the active collection's version always prevails. */
  readonly previous: Base | undefined;
  /** Absent if the base is only read */
  readonly write?: BaseTarget | undefined;
}

interface BaseTarget {
  /** Key prefix of the parts that this walk writes in this invocation */
  readonly prefix: string;
  /** Stores the current base durably. */
  readonly save: (base: Base) => Promise<void>;
}

type BaseSource = Pick<BaseAccess, 'artifacts' | 'previous'>;

/** Reads the memories of two sources side by side, each with its last common version. */
export async function* mergeVersions<Active extends Sorted, Standby extends Sorted>(
  activeMemories: AsyncIterator<Active, undefined>,
  standbyMemories: AsyncIterator<Standby, undefined>,
  baseSource: BaseSource | undefined,
): AsyncGenerator<Pair<Active, Standby> & { readonly base: CommonVersion }, void, void> {
  const findCommonVersion = baseSource
    ? createBaseReader(baseSource)
    : async () => 'unknown' as const;
  for await (const pair of mergeById(activeMemories, standbyMemories)) {
    yield { ...pair, base: await findCommonVersion(pair.id) };
  }
}

/** Returns a function that looks up common versions; it must be called with ascending ids. */
function createBaseReader({ artifacts, previous }: BaseSource) {
  const lines = readBaseLines(artifacts, previous?.segments ?? []);
  const pendingIds = new Set(previous?.making);
  let next: IteratorResult<ListedMemory, undefined> | undefined;
  return async function findCommonVersion(id: PointId): Promise<CommonVersion> {
    if (!isCovered(previous, id)) return 'unknown';
    next ??= await lines.next();
    while (!next.done && comparePointIds(next.value.id, id) < 0) next = await lines.next();
    if (!next.done && next.value.id === id) return next.value.digest;
    return pendingIds.has(id) ? 'inserting' : 'absent';
  };
}

function isCovered(base: Base | undefined, id: PointId): boolean {
  if (base?.knownTo === undefined) return base !== undefined;
  return comparePointIds(id, base.knownTo) < 0;
}

export async function* readBaseLines(
  artifacts: ArtifactStore,
  segments: Base['segments'],
): AsyncGenerator<ListedMemory, undefined, void> {
  for (const { prefix, parts, from } of segments) {
    for (let part = 0; part < parts; part += 1) {
      for await (const line of splitLines(artifacts.get(formatPartKey(prefix, part)))) {
        const space = line.lastIndexOf(' ');
        const id = line.slice(0, space) as PointId;
        if (from !== null && comparePointIds(id, from) < 0) continue;
        yield { id, digest: Buffer.from(line.slice(space + 1), 'base64url') };
      }
    }
  }
}

/** Collects the lines of a new base, which must be added in order of id, and writes them as artifacts. */
export function createBaseWriter(
  { artifacts, previous }: BaseAccess,
  { prefix, save }: BaseTarget,
  progress: BaseProgress | undefined,
) {
  const sum = createDigestSum(progress?.digest);
  let segments = progress?.segments ?? [];
  let points = progress?.points ?? 0;
  let lines: string[] = [];

  function add(id: PointId, digest: Buffer): void {
    lines.push(`${id} ${digest.toString('base64url')}\n`);
    sum.add(digest);
    points += 1;
  }

  /** @param nextOffset first id that the walk has not compared; null when the walk has ended */
  async function flush(nextOffset: PointId | null): Promise<BaseProgress> {
    if (lines.length > 0) {
      const lastSegment = segments.at(-1);
      const parts = lastSegment?.prefix === prefix ? lastSegment.parts : 0;
      await artifacts.put(formatPartKey(prefix, parts), [Buffer.from(lines.join(''))]);
      const otherSegments = segments.filter((segment) => segment.prefix !== prefix);
      segments = [...otherSegments, { prefix, parts: parts + 1, from: null }];
      lines = [];
    }
    const digest = sum.toHex();
    if (nextOffset === null) await save({ segments, digest, points });
    else await save({ ...combineSegments(nextOffset), ...listPendingInserts([], nextOffset) });
    return { segments, digest, points };
  }

  /** Combines this walk's segments with those of the earlier base, whose lines count from the offset on. */
  function combineSegments(offset: PointId | null): Base {
    const { segments: earlierSegments = [], knownTo } = previous ?? {};
    // After a resume, the earlier base may contain this walk's own segments, whose lines all precede the offset.
    const isOwn = ({ prefix, parts }: Base['segments'][number]) =>
      segments.some((segment) => segment.prefix === prefix && segment.parts === parts);
    const earlierRemaining = earlierSegments
      .filter((segment) => !isOwn(segment))
      .map((segment) => ({ ...segment, from: pickLaterId(segment.from, offset) }));
    const knownEnd = previous === undefined ? offset : knownTo && pickLaterId(knownTo, offset);
    return { segments: [...segments, ...earlierRemaining], ...(knownEnd && { knownTo: knownEnd }) };
  }

  /** Lists this walk's pending inserts, and a killed walk's pending inserts that this walk has not reached yet. */
  function listPendingInserts(
    ids: readonly PointId[],
    offset: PointId | null,
  ): Pick<Base, 'making'> {
    const isAhead = (id: PointId) => offset === null || comparePointIds(id, offset) >= 0;
    const pendingIds = new Set([...(previous?.making ?? []).filter(isAhead), ...ids]);
    return pendingIds.size > 0 ? { making: [...pendingIds] } : {};
  }

  /** Call before inserting: if the walk is killed and a user then deletes an inserted memory, no later walk may insert it again. */
  async function recordPendingInserts(
    ids: readonly PointId[],
    offset: PointId | null,
  ): Promise<void> {
    await save({ ...combineSegments(offset), ...listPendingInserts(ids, offset) });
  }

  return { add, flush, recordPendingInserts };
}

function pickLaterId<Id extends PointId | null>(a: Id, b: PointId | null): Id | PointId {
  if (a === null || b === null) return b ?? a;
  return comparePointIds(a, b) > 0 ? a : b;
}
