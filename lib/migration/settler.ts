// What becomes of the pairs of one page: which side is right, what is written where, and what is left.
import { type BaseKeeper, isKnown } from './base.ts';
import { type PointPair, pointsById } from './pairs.ts';
import { type CopySettings, createPointWriter } from './point-writer.ts';
import { digestOf, lacksKeywords, samePayload, sameVector } from './points.ts';
import type { PointId, ScrolledPoint } from './ports/vector-store.ts';
import {
  added,
  type Difference,
  NOTHING_WRITTEN,
  type ReconcileReport,
  type Strays,
  type Written,
  withBatch,
} from './reconcile-report.ts';
import { mayBeDone, Refusal } from './refusals.ts';

export interface ReconcileSettings extends CopySettings {
  /**
   * repair: what was written is read back. fill: it is not, which is faster in an empty collection and proves nothing.
   * insert: a repair that neither replaces nor deletes. carry: only what the second collection has changed is written.
   * compare: nothing is written.
   */
  readonly mode: 'repair' | 'fill' | 'insert' | 'carry' | 'compare';
  /** A user whose points are left alone on both sides: the test user of a run. */
  readonly without?: string;
  /** From the second collection to the first; with a base only. Without it, what the second one has changed stays there. */
  readonly back?: Omit<CopySettings, 'from'> | undefined;
  /** The second collection lacks, or has changed, so much that no user has done it. */
  readonly isDamaged?: boolean;
  /** Whether users have made that change to the second collection. */
  readonly isOfUser?: ((was: ScrolledPoint, is: ScrolledPoint) => boolean) | undefined;
  /** So many points may be removed from either collection. */
  readonly limit?: number;
  /** The same of the first collection, where it is another number. */
  readonly backLimit?: number;
  /** Vectors are not compared, and not even read. */
  readonly payloadsOnly?: boolean;
}

/** What is removed or replaced in the first collection by what the second one has, and what is removed from the second. */
export interface Removals {
  readonly first: number;
  readonly second: number;
}

export interface SettlePorts {
  /** Renews the lock. Called immediately before every write; throws when another invocation has taken over. */
  readonly renew?: () => Promise<void>;
  /** Of the third version of each point; the next one is written to it. */
  readonly base?: BaseKeeper;
  /** Called before one of two changes is overruled, or one is withheld: its content is kept. */
  readonly keepConflicts?: (pairs: readonly PointPair[]) => Promise<void>;
}

/** How often a point is written before it counts as pending. */
const ROUNDS = 3;

/**
 * What becomes of a pair that differs: the first side goes onwards to the second, or the second one back to the first; both
 * were changed; or the second one was, and by no user. With the last two the first side stays.
 */
type Way = 'onwards' | 'back' | 'conflict' | 'withheld';

interface WalkRecord {
  readonly removals: () => Removals;
  readonly countRemovals: (removals: Removals) => Promise<void>;
  readonly noteMaking: (ids: readonly PointId[]) => Promise<void>;
  readonly addLine: (id: PointId, digest: Buffer) => void;
}

/** Compares and repairs one batch after the other, and reports what it found and did. */
export function createSettler(settings: ReconcileSettings, ports: SettlePorts, walk: WalkRecord) {
  const { renew, base } = ports;
  const { from, to, keywords, mode, tolerance, limit = Number.POSITIVE_INFINITY } = settings;
  const { backLimit = limit } = settings;
  const hasBase = base?.before !== undefined;
  const writer = createPointWriter(settings, renew);
  const backWriter = settings.back && createPointWriter(settings.back, renew);
  const writesBack = backWriter !== undefined && mode !== 'compare';
  const noted = new Set(base?.before?.making);
  let isDamaged = settings.isDamaged ?? false;
  /** Of a pair that does not change: after a repair there is another one in its place. */
  const differences = new WeakMap<PointPair, Difference | undefined>();

  return async function settle(before: ReconcileReport, pairs: readonly PointPair[]) {
    if (mode !== 'compare') await countRemovalsOf(pairs);
    const isMade = (pair: PointPair) => !(wayOf(pair) === 'back' ? pair.from : pair.to);
    const making = hasBase ? pairs.filter((pair) => isDue(pair) && isMade(pair)) : [];
    if (making.length > 0) await walk.noteMaking(making.map(({ id }) => id));
    const overruled = new Map<PointId, PointPair>();
    // Also what is overruled only since it was first read: either collection may be written to in the moment of the write.
    const keepOverruled = async (fresh: readonly PointPair[]) => {
      const found = fresh.filter((pair) => isOverruled(pair) && !overruled.has(pair.id));
      for (const pair of found) overruled.set(pair.id, pair);
      await ports.keepConflicts?.(found);
    };
    if (mode !== 'compare') await keepOverruled(pairs);
    const { left, written, stuck } = await repair(pairs, keepOverruled).catch(
      async (error: unknown) => {
        if (making.length > 0 && !mayBeDone(error)) await walk.noteMaking(await madeOf(making));
        throw error;
      },
    );
    const staysApart = (pair: PointPair) => !writesBack && wayOf(pair) === 'back';
    const report = withBatch(before, left, {
      written,
      stuck,
      staysApart,
      differenceOf: (pair) => (staysApart(pair) ? undefined : differenceOf(pair)),
      countsGaps: keywords === 'left-empty',
      strays: straysIn(pairs.map((pair) => overruled.get(pair.id) ?? pair)),
      addLine: walk.addLine,
    });
    return { report, hasMade: making.length > 0 };
  };

  /** Those that an earlier batch has made. What the store has refused, it has not made; and it may answer nothing more. */
  async function madeOf(making: readonly PointPair[]): Promise<PointId[]> {
    const parts = { payload: false, vector: false };
    const back = making.filter((pair) => wayOf(pair) === 'back');
    const onwards = making.filter((pair) => wayOf(pair) !== 'back');
    const found = [pointsById(from, back, parts), pointsById(to, onwards, parts)];
    return await Promise.all(found).then(
      (found) => found.flatMap((points) => [...points.keys()]),
      () => [],
    );
  }

  async function countRemovalsOf(pairs: readonly PointPair[]): Promise<void> {
    const { first, second } = walk.removals();
    const due = pairs.filter(isDue);
    const fromFirst = due.filter((pair) => pair.from && wayOf(pair) === 'back').length;
    if (first + fromFirst > backLimit) isDamaged = true;
    const fromSecond = pairs.filter((pair) => !pair.from && isDue(pair) && wayOf(pair) !== 'back');
    const counted = {
      first: isDamaged ? first : first + fromFirst,
      second: second + fromSecond.length,
    };
    const isUnlimited = backLimit === Number.POSITIVE_INFINITY;
    if (isUnlimited || counted.first + counted.second === first + second) return;
    if (counted.second > limit) {
      const why = `This would remove ${counted.second} points or more of ${to.collection}; expected are at most ${limit}.`;
      throw new Refusal('RefusedMassChange', why, { data: { deletes: counted.second } });
    }
    await walk.countRemovals(counted);
  }

  async function repair(
    pairs: readonly PointPair[],
    keepOverruled: (fresh: readonly PointPair[]) => Promise<void>,
  ) {
    const repaired = new Map<PointId, PointPair>();
    let written = NOTHING_WRITTEN;
    let differing = pairs.filter(isDue);
    const wanted = new Map(differing.map(({ id, from: ours }) => [id, ours]));
    for (let round = 1; differing.length > 0 && round <= ROUNDS; round += 1) {
      const fresh = round === 1 ? await withSource(differing) : await readAgain(differing);
      await keepOverruled(fresh);
      written = added(written, await write(fresh.filter(isDue)));
      const present = await readBack(fresh);
      for (const pair of present) repaired.set(pair.id, pair);
      differing = present.filter(isDue);
    }
    const left = pairs.map((pair) => repaired.get(pair.id) ?? pair);
    if (mode !== 'compare') await keepOverruled(left);
    // A point that a client changed meanwhile may be equal after the next walk; the store did not keep the others.
    const stuck = differing.filter(({ id, from: ours }) => {
      const was = wanted.get(id);
      return was && ours && samePayload(was.payload, ours.payload) && was.vector === ours.vector;
    });
    return { left, written, stuck: stuck.length };
  }

  // What a store says it has written is not always what it has.
  async function readBack(pairs: readonly PointPair[]): Promise<PointPair[]> {
    if (mode === 'fill') return pairs.map((pair) => ({ ...pair, to: pair.from }));
    const points = await pointsById(to, pairs);
    const sent = pairs.filter((pair) => wayOf(pair) === 'back');
    const received = await pointsById(from, sent);
    const backIds = new Set(sent.map(({ id }) => id));
    return pairs.map((pair) => ({
      ...pair,
      from: backIds.has(pair.id) ? received.get(pair.id) : pair.from,
      to: points.get(pair.id),
    }));
  }

  async function write(pairs: readonly PointPair[]): Promise<Written> {
    const back = pairs.filter((pair) => wayOf(pair) === 'back');
    const onwards = pairs.filter((pair) => wayOf(pair) !== 'back');
    if (backWriter) await apply(backWriter, back, ({ from, to }) => ({ is: to, was: from }));
    return await apply(writer, onwards, ({ from, to }) => ({ is: from, was: to }));
  }

  // What seems to be deleted is read again, before it is deleted here; and what users may have changed meanwhile.
  async function withSource(pairs: readonly PointPair[]): Promise<PointPair[]> {
    const isUncertain = (pair: PointPair) => !pair.from || wayOf(pair) === 'back';
    const points = await pointsById(from, pairs.filter(isUncertain));
    return pairs.map((pair) => (isUncertain(pair) ? { ...pair, from: points.get(pair.id) } : pair));
  }

  async function readAgain(pairs: readonly PointPair[]): Promise<PointPair[]> {
    const [ours, theirs] = await Promise.all([pointsById(from, pairs), pointsById(to, pairs)]);
    return pairs.map(({ id, was }) => ({ id, was, from: ours.get(id), to: theirs.get(id) }));
  }

  /** What is withheld is overwritten by this walk, or counts as equal from it on. */
  function isOverruled(pair: PointPair): boolean {
    const way = wayOf(pair);
    return way === 'conflict' || (way === 'withheld' && pair.to !== undefined);
  }

  /** Whether this walk writes it. */
  function isDue(pair: PointPair): boolean {
    const way = wayOf(pair);
    if (way === undefined || mode === 'compare') return false;
    if (way === 'back') return writesBack;
    if (mode === 'carry') return false;
    return mode !== 'insert' || differenceOf(pair) === 'missing';
  }

  function wayOf(pair: PointPair): Way | undefined {
    if (differenceOf(pair) === undefined) return undefined;
    if (!isKnown(base?.before, pair.id)) return 'onwards';
    const { from: ours, to: theirs, was } = pair;
    const isAs = (one: ScrolledPoint | undefined, digest: Buffer | undefined) =>
      one && digest ? digest.equals(digestOf(pair.id, one.payload)) : !one && !digest;
    if (isAs(theirs, was) || (ours && theirs && samePayload(ours.payload, theirs.payload)))
      return 'onwards';
    if (!isAs(ours, was)) return 'conflict';
    // It was made in either collection before a kill, perhaps, and deleted by its user since.
    if (!ours && noted.has(pair.id)) return 'conflict';
    if (!ours) return 'back';
    const isOfUser = !theirs || (settings.isOfUser?.(ours, theirs) ?? true);
    return isDamaged || !isOfUser ? 'withheld' : 'back';
  }

  function straysIn(pairs: readonly PointPair[]): Strays {
    const strays = { writes: 0, overruled: 0, withheld: 0, lacking: 0, changed: 0 };
    for (const pair of pairs) {
      const way = wayOf(pair);
      if (way === undefined || way === 'onwards') continue;
      strays.writes += 1;
      if (way === 'conflict') strays.overruled += 1;
      else if (!pair.to) strays.lacking += 1;
      else if (pair.from) strays.changed += 1;
      if (way === 'withheld') strays.withheld += 1;
    }
    return strays;
  }

  function differenceOf(pair: PointPair): Difference | undefined {
    if (!differences.has(pair)) differences.set(pair, findDifference(pair));
    return differences.get(pair);
  }

  function findDifference({ from: ours, to: theirs }: PointPair): Difference | undefined {
    if (!ours) return theirs && 'extra';
    if (!theirs) return 'missing';
    if (!samePayload(ours.payload, theirs.payload)) return 'payload';
    if (settings.payloadsOnly) return undefined;
    if (!sameVector(ours.vector, theirs.vector, tolerance)) return 'vector';
    const needsKeywords = keywords === 'by-store' && ours !== theirs;
    return needsKeywords && lacksKeywords(theirs) ? 'keywords' : undefined;
  }
}

/** Makes `was` into `is`: only where a point is still as it was read. */
async function apply(
  writer: ReturnType<typeof createPointWriter>,
  pairs: readonly PointPair[],
  sidesOf: (pair: PointPair) => {
    readonly is: ScrolledPoint | undefined;
    readonly was: ScrolledPoint | undefined;
  },
): Promise<Written> {
  const created: ScrolledPoint[] = [];
  const changed: { readonly seen: ScrolledPoint; readonly by: ScrolledPoint }[] = [];
  const removed: ScrolledPoint[] = [];
  for (const { is, was } of pairs.map(sidesOf)) {
    if (is && was) changed.push({ seen: was, by: is });
    else if (is) created.push(is);
    else if (was) removed.push(was);
  }
  await writer.insert(created);
  await writer.replaceUnchanged(changed);
  await writer.removeUnchanged(removed);
  return { inserted: created.length, replaced: changed.length, deleted: removed.length };
}
