// Resolves the pairs of one page: decides which version prevails, writes it to the other collection, and reports the remaining
// differences.
import type { BaseAccess } from './base.ts';
import { type CommonVersion, decideFate, type Fate, findVectorDifference, isSame } from './fate.ts';
import { fetchById, type PointPair } from './pairs.ts';
import { type CopySettings, createPointWriter } from './point-writer.ts';
import type { PointId, ScrolledPoint } from './ports/vector-store.ts';
import {
  addBatch,
  addFigures,
  type Difference,
  type LateWrites,
  NOTHING_WRITTEN,
  type ReconcileReport,
  type Written,
} from './reconcile-report.ts';
import { mayBeDone, Refusal } from './refusals.ts';

export interface ReconcileSettings extends CopySettings {
  /**
   * repair: writes are read back. fill: they are not, which is faster in an empty collection but proves nothing. insert: like
   * repair, but neither replaces nor deletes. carry: only changes of the standby collection are copied, to the active one.
   */
  readonly mode: 'repair' | 'fill' | 'insert' | 'carry';
  /** Test user of the run, whose points are ignored on both sides */
  readonly excludedUser?: string;
  /** How changes of the standby collection are copied to the active one, given a base; absent if they are not copied */
  readonly back?: Omit<CopySettings, 'from'> | undefined;
  /** True if more points are missing or changed in the standby collection than users can have deleted or changed */
  readonly isDamaged?: boolean;
  /** True if a user made this change to the standby collection */
  readonly isUserChange?:
    | ((previous: ScrolledPoint, current: ScrolledPoint) => boolean)
    | undefined;
  /** Most points that the walk may remove from a collection */
  readonly limit?: number;
  /** Limit for the active collection; by default `limit` */
  readonly backLimit?: number;
}

/** Points removed from, or replaced in, the active collection (`first`), and points removed from the standby one (`second`) */
export interface Removals {
  readonly first: number;
  readonly second: number;
}

export interface ResolvePorts {
  /** Renews the lock. Called immediately before every write; throws when another invocation has taken over. */
  readonly renewLease?: () => Promise<void>;
  /** Last common version of each point, and where the walk writes the next one */
  readonly base?: BaseAccess;
  /** Keeps the content of changes, before they are overwritten or left unapplied. */
  readonly keepConflicts?: (pairs: readonly PointPair[]) => Promise<void>;
}

/** Number of attempts to write a point before it is reported as pending */
const MAX_ROUNDS = 3;

/** not-applied: the fate is backward, but the active version prevails, because the change looks like damage or no user made it. */
type Direction = Exclude<Fate, 'same'> | 'not-applied';

/** A memory in the active and the standby collection, and its last common version */
export interface ComparedPair extends PointPair {
  readonly base: CommonVersion;
}

interface WalkRecord {
  readonly removals: () => Removals;
  readonly countRemovals: (removals: Removals) => Promise<void>;
  readonly recordPendingInserts: (ids: readonly PointId[]) => Promise<void>;
  readonly addLine: (id: PointId, digest: Buffer) => void;
}

/** Compares and repairs batch by batch, and adds findings and writes to the report. */
export function createResolver(settings: ReconcileSettings, ports: ResolvePorts, walk: WalkRecord) {
  const { renewLease, base } = ports;
  const { from, to, keywords, mode, limit = Number.POSITIVE_INFINITY } = settings;
  const { backLimit = limit } = settings;
  const hasBase = base?.previous !== undefined;
  const writer = createPointWriter(settings, renewLease);
  const backWriter = settings.back && createPointWriter(settings.back, renewLease);
  let isDamaged = settings.isDamaged ?? false;
  // Pairs are immutable, so each is compared only once: a repair replaces a pair by a new one.
  const differences = new WeakMap<ComparedPair, Difference | undefined>();

  return async function resolve(previousReport: ReconcileReport, pairs: readonly ComparedPair[]) {
    await countDueRemovals(pairs);
    const isInsert = (pair: ComparedPair) =>
      !(decideDirection(pair) === 'backward' ? pair.active : pair.standby);
    const pendingInserts = hasBase ? pairs.filter((pair) => mustWrite(pair) && isInsert(pair)) : [];
    if (pendingInserts.length > 0)
      await walk.recordPendingInserts(pendingInserts.map(({ id }) => id));
    const overwritten = new Map<PointId, ComparedPair>();
    // A conflict can arise between reading and writing, because others may write to either collection.
    const keepOverwritten = async (rereadPairs: readonly ComparedPair[]) => {
      const newlyOverwritten = rereadPairs.filter(
        (pair) => overwritesStandby(pair) && !overwritten.has(pair.id),
      );
      for (const pair of newlyOverwritten) overwritten.set(pair.id, pair);
      await ports.keepConflicts?.(newlyOverwritten);
    };
    await keepOverwritten(pairs);
    const { remaining, written, stuck } = await repair(pairs, keepOverwritten).catch(
      async (error: unknown) => {
        if (pendingInserts.length > 0 && !mayBeDone(error))
          await walk.recordPendingInserts(await findInserted(pendingInserts));
        throw error;
      },
    );
    const keepsBoth = (pair: ComparedPair) => !backWriter && decideDirection(pair) === 'backward';
    const report = addBatch(previousReport, remaining, {
      written,
      stuck,
      keepsBoth,
      compareOnce: (pair) => (keepsBoth(pair) ? undefined : getDifference(pair)),
      countsMissingKeywords: keywords === 'left-empty',
      strays: countLateWrites(pairs.map((pair) => overwritten.get(pair.id) ?? pair)),
      addLine: walk.addLine,
    });
    return { report, hasInserted: pendingInserts.length > 0 };
  };

  /** Finds the inserts that were made before a write was refused; returns none if the store no longer responds. */
  async function findInserted(pendingInserts: readonly ComparedPair[]): Promise<PointId[]> {
    const parts = { payload: false, vector: false };
    const backward = pendingInserts.filter((pair) => decideDirection(pair) === 'backward');
    const forward = pendingInserts.filter((pair) => decideDirection(pair) !== 'backward');
    const reads = [fetchById(from, backward, parts), fetchById(to, forward, parts)];
    return await Promise.all(reads).then(
      (results) => results.flatMap((points) => [...points.keys()]),
      () => [],
    );
  }

  async function countDueRemovals(pairs: readonly ComparedPair[]): Promise<void> {
    const { first, second } = walk.removals();
    const pairsToWrite = pairs.filter(mustWrite);
    const activeRemovals = pairsToWrite.filter(
      (pair) => pair.active && decideDirection(pair) === 'backward',
    ).length;
    if (first + activeRemovals > backLimit) isDamaged = true;
    const removedStandbyPairs = pairs.filter(
      (pair) => !pair.active && mustWrite(pair) && decideDirection(pair) !== 'backward',
    );
    const newRemovals = {
      first: isDamaged ? first : first + activeRemovals,
      second: second + removedStandbyPairs.length,
    };
    const isUnlimited = backLimit === Number.POSITIVE_INFINITY;
    if (isUnlimited || newRemovals.first + newRemovals.second === first + second) return;
    if (newRemovals.second > limit) {
      const why = `This would remove at least ${newRemovals.second} points of ${to.collection}; at most ${limit} are expected.`;
      throw new Refusal('RefusedMassChange', why, { data: { deletes: newRemovals.second } });
    }
    await walk.countRemovals(newRemovals);
  }

  async function repair(
    pairs: readonly ComparedPair[],
    keepOverwritten: (rereadPairs: readonly ComparedPair[]) => Promise<void>,
  ) {
    const repaired = new Map<PointId, ComparedPair>();
    let written = NOTHING_WRITTEN;
    let differingPairs = pairs.filter(mustWrite);
    const initialActives = new Map(differingPairs.map(({ id, active }) => [id, active]));
    for (let round = 1; differingPairs.length > 0 && round <= MAX_ROUNDS; round += 1) {
      const rereadPairs =
        round === 1 ? await rereadActive(differingPairs) : await rereadBoth(differingPairs);
      await keepOverwritten(rereadPairs);
      written = addFigures(written, await write(rereadPairs.filter(mustWrite)));
      const current = await readBack(rereadPairs);
      for (const pair of current) repaired.set(pair.id, pair);
      differingPairs = current.filter(mustWrite);
    }
    const remaining = pairs.map((pair) => repaired.get(pair.id) ?? pair);
    await keepOverwritten(remaining);
    // A point that a client changed meanwhile may be equal in the next walk. Any other is stuck: the store did not keep the write.
    const stuck = differingPairs.filter(({ id, active }) => {
      const initialActive = initialActives.get(id);
      return (
        initialActive && isSame(initialActive, active) && initialActive.vector === active?.vector
      );
    });
    return { remaining, written, stuck: stuck.length };
  }

  // A store may report a write as done and not keep it.
  async function readBack(pairs: readonly ComparedPair[]): Promise<ComparedPair[]> {
    if (mode === 'fill') return pairs.map((pair) => ({ ...pair, standby: pair.active }));
    const standbyById = await fetchById(to, pairs);
    const backwardPairs = pairs.filter((pair) => decideDirection(pair) === 'backward');
    const activeById = await fetchById(from, backwardPairs);
    const backwardIds = new Set(backwardPairs.map(({ id }) => id));
    return pairs.map((pair) => ({
      ...pair,
      active: backwardIds.has(pair.id) ? activeById.get(pair.id) : pair.active,
      standby: standbyById.get(pair.id),
    }));
  }

  async function write(pairs: readonly ComparedPair[]): Promise<Written> {
    const backward = pairs.filter((pair) => decideDirection(pair) === 'backward');
    const forward = pairs.filter((pair) => decideDirection(pair) !== 'backward');
    if (backWriter)
      await applyChanges(backWriter, backward, ({ active, standby }) => ({
        target: standby,
        current: active,
      }));
    return await applyChanges(writer, forward, ({ active, standby }) => ({
      target: active,
      current: standby,
    }));
  }

  // Reads a point of the active collection again if it seems deleted there, or is about to be replaced there.
  async function rereadActive(pairs: readonly ComparedPair[]): Promise<ComparedPair[]> {
    const isUncertain = (pair: ComparedPair) =>
      !pair.active || decideDirection(pair) === 'backward';
    const points = await fetchById(from, pairs.filter(isUncertain));
    return pairs.map((pair) =>
      isUncertain(pair) ? { ...pair, active: points.get(pair.id) } : pair,
    );
  }

  async function rereadBoth(pairs: readonly ComparedPair[]): Promise<ComparedPair[]> {
    const [active, standby] = await Promise.all([fetchById(from, pairs), fetchById(to, pairs)]);
    return pairs.map(({ id, base }) => ({
      id,
      base,
      active: active.get(id),
      standby: standby.get(id),
    }));
  }

  /** True if the standby version is about to be overwritten, or to become the common version without being applied */
  function overwritesStandby(pair: ComparedPair): boolean {
    const direction = decideDirection(pair);
    return direction === 'conflict' || (direction === 'not-applied' && pair.standby !== undefined);
  }

  function mustWrite(pair: ComparedPair): boolean {
    const direction = decideDirection(pair);
    if (direction === undefined) return false;
    if (direction === 'backward') return backWriter !== undefined;
    if (mode === 'carry') return false;
    return mode !== 'insert' || getDifference(pair) === 'missing';
  }

  function decideDirection(pair: ComparedPair): Direction | undefined {
    if (getDifference(pair) === undefined) return undefined;
    const { active, standby, base } = pair;
    const fate = decideFate(active, standby, base);
    // The memory is the same: only its vector or its keywords differ.
    if (fate === 'same') return 'forward';
    if (fate !== 'backward' || !active) return fate;
    const isUserChange = !standby || (settings.isUserChange?.(active, standby) ?? true);
    return isDamaged || !isUserChange ? 'not-applied' : 'backward';
  }

  function countLateWrites(pairs: readonly ComparedPair[]): LateWrites {
    const lateWrites = { writes: 0, overruled: 0, withheld: 0, lacking: 0, changed: 0 };
    for (const pair of pairs) {
      const direction = decideDirection(pair);
      if (direction === undefined || direction === 'forward') continue;
      lateWrites.writes += 1;
      if (direction === 'conflict') lateWrites.overruled += 1;
      else if (!pair.standby) lateWrites.lacking += 1;
      else if (pair.active) lateWrites.changed += 1;
      if (direction === 'not-applied') lateWrites.withheld += 1;
    }
    return lateWrites;
  }

  function getDifference(pair: ComparedPair): Difference | undefined {
    if (!differences.has(pair)) differences.set(pair, findDifference(pair));
    return differences.get(pair);
  }

  function findDifference({ active, standby }: ComparedPair): Difference | undefined {
    if (!active) return standby && 'extra';
    if (!standby) return 'missing';
    if (!isSame(active, standby)) return 'payload';
    // Mode `fill` does not read points back: both sides are the same object.
    return active === standby ? undefined : findVectorDifference(active, standby, settings);
  }
}

/** Replaces each current version by the target version, unless the point has changed since it was read. */
async function applyChanges(
  writer: ReturnType<typeof createPointWriter>,
  pairs: readonly PointPair[],
  chooseVersions: (pair: PointPair) => {
    readonly target: ScrolledPoint | undefined;
    readonly current: ScrolledPoint | undefined;
  },
): Promise<Written> {
  const inserts: ScrolledPoint[] = [];
  const replacements: { readonly current: ScrolledPoint; readonly replacement: ScrolledPoint }[] =
    [];
  const removals: ScrolledPoint[] = [];
  for (const { target, current } of pairs.map(chooseVersions)) {
    if (target && current) replacements.push({ current, replacement: target });
    else if (target) inserts.push(target);
    else if (current) removals.push(current);
  }
  await writer.insert(inserts);
  await writer.replaceUnchanged(replacements);
  await writer.removeUnchanged(removals);
  return { inserted: inserts.length, replaced: replacements.length, deleted: removals.length };
}
