// One walk over two collections side by side, in order of id and in constant memory. It compares them point by point, and
// makes the second equal to the first. The first is right wherever the two differ.
import { type CopySettings, createPointWriter } from './point-writer.ts';
import {
  comparePointIds,
  createDigestSum,
  digestOf,
  EMPTY_SET,
  lacksKeywords,
  samePayload,
  sameVector,
  userHash,
  userOf,
} from './points.ts';
import type { PointId, PointParts, ScrolledPoint, ScrollRequest } from './ports/vector-store.ts';
import { type CollectionPlace, pagesOf } from './scan.ts';

export interface ReconcileSettings extends CopySettings {
  /**
   * repair: what was written is read back. fill: it is not, which is faster in an empty collection and proves nothing.
   * insert: a repair that neither replaces nor deletes. compare: nothing is written.
   */
  readonly mode: 'repair' | 'fill' | 'insert' | 'compare';
  /** A user whose points are left alone on both sides: the test user of a run. */
  readonly without?: string;
}

const DIFFERENCES = ['missing', 'extra', 'payload', 'vector', 'keywords'] as const;

export type Difference = (typeof DIFFERENCES)[number];

interface SideReport {
  readonly points: number;
  readonly digest: string;
  readonly usersDigest: string;
}

/** Plain JSON, and small however many points differ. */
export interface ReconcileReport {
  readonly compared: number;
  /** Both sides as they were left. */
  readonly from: SideReport;
  readonly to: SideReport;
  readonly inserted: number;
  readonly replaced: number;
  readonly deleted: number;
  /** Points that differ still: written to in the meantime, or the store did not keep the repair. */
  readonly pending: Readonly<Record<Difference, number>>;
  readonly examples: readonly PointId[];
  /** Points with text that have no keyword vector because the store cannot make one. */
  readonly withoutKeywords: number;
}

/** Everything that it reports is durable. */
export interface ReconcileCheckpoint {
  readonly isComplete: boolean;
  /** The first point that was not looked at yet. */
  readonly nextOffset: PointId | null;
  readonly report: ReconcileReport;
}

const NOTHING: SideReport = { points: 0, digest: EMPTY_SET, usersDigest: EMPTY_SET };

export const RECONCILE_START: ReconcileCheckpoint = {
  isComplete: false,
  nextOffset: null,
  report: {
    compared: 0,
    from: NOTHING,
    to: NOTHING,
    inserted: 0,
    replaced: 0,
    deleted: 0,
    pending: { missing: 0, extra: 0, payload: 0, vector: 0, keywords: 0 },
    examples: [],
    withoutKeywords: 0,
  },
};

const MAX_EXAMPLES = 20;

/** How often a point is written before it counts as pending. */
const ROUNDS = 3;

/** What has to hold of two equal collections and does not; empty when they are equal. */
export function faultsIn({ from, to, pending }: ReconcileReport): string[] {
  const differing = DIFFERENCES.filter((difference) => pending[difference] > 0);
  return [
    ...differing.map((difference) => `${difference}: ${pending[difference]}`),
    ...(from.digest === to.digest && from.points === to.points ? [] : ['contents differ']),
    ...(from.usersDigest === to.usersDigest ? [] : ['counts per user differ']),
  ];
}

/**
 * Goes on from a checkpoint, to the end or until time is up. A kill costs what was done since the last checkpoint,
 * which is then found equal.
 */
export async function reconcile(
  settings: ReconcileSettings,
  ports: ReconcilePorts,
  start: ReconcileCheckpoint = RECONCILE_START,
): Promise<ReconcileCheckpoint> {
  if (start.isComplete) return start;
  const settle = createSettler(settings, ports);
  let checkpoint = start;
  let batch: PointPair[] = [];

  async function save(nextOffset: PointId | null): Promise<void> {
    const report = await settle(checkpoint.report, batch);
    checkpoint = { isComplete: nextOffset === null, nextOffset, report };
    batch = [];
    await ports.saveCheckpoint(checkpoint);
  }

  for await (const pair of pairsOf(settings, start.nextOffset)) {
    if (batch.length >= settings.pageSize) {
      await save(pair.id);
      if (ports.isTimeUp?.()) return checkpoint;
    }
    batch.push(pair);
  }
  await save(null);
  return checkpoint;
}

/** At least one side is there. */
interface PointPair {
  readonly id: PointId;
  readonly from: ScrolledPoint | undefined;
  readonly to: ScrolledPoint | undefined;
}

async function* pairsOf(
  { from, to, pageSize, without }: ReconcileSettings,
  offset: PointId | null,
): AsyncGenerator<PointPair> {
  const request = { limit: pageSize, offset };
  for await (const pair of pairedPoints({ ...from, request }, { ...to, request })) {
    const own = withoutUser(pair, without);
    if (own.from || own.to) yield own;
  }
}

function withoutUser(pair: PointPair, user: string | undefined): PointPair {
  if (user === undefined) return pair;
  const unlessOf = (point: ScrolledPoint | undefined) =>
    point && userOf(point.payload) !== user ? point : undefined;
  return { id: pair.id, from: unlessOf(pair.from), to: unlessOf(pair.to) };
}

type Written = Pick<ReconcileReport, 'inserted' | 'replaced' | 'deleted'>;

/** Compares and repairs one batch after the other, and reports what it found and did. */
function createSettler(
  settings: ReconcileSettings,
  { renew = async () => {}, assertRemovable = async () => {} }: ReconcilePorts,
) {
  const { from, to, keywords, mode } = settings;
  const writer = createPointWriter(settings, renew);
  /** Of a pair that does not change: after a repair there is another one in its place. */
  const found = new WeakMap<PointPair, Difference | undefined>();

  return async function settle(before: ReconcileReport, pairs: readonly PointPair[]) {
    const { left, written } = await repair(pairs);
    const countsGaps = keywords === 'left-empty';
    return withBatch(before, left, { ...written, differenceOf, countsGaps });
  };

  async function repair(pairs: readonly PointPair[]) {
    const repaired = new Map<PointId, PointPair>();
    let written = NOTHING_WRITTEN;
    let differing = pairs.filter(isDue);
    for (let round = 1; differing.length > 0 && round <= ROUNDS; round += 1) {
      const fresh = round === 1 ? await withSource(differing) : await readAgain(differing);
      written = added(written, await write(fresh));
      const present = await readBack(fresh);
      for (const pair of present) repaired.set(pair.id, pair);
      differing = present.filter(isDue);
    }
    return { left: pairs.map((pair) => repaired.get(pair.id) ?? pair), written };
  }

  // What a store says it has written is not always what it has.
  async function readBack(pairs: readonly PointPair[]): Promise<PointPair[]> {
    if (mode === 'fill')
      return pairs.map(({ id, from: point }) => ({ id, from: point, to: point }));
    const points = await pointsById(to, pairs);
    return pairs.map((pair) => ({ ...pair, to: points.get(pair.id) }));
  }

  async function write(candidates: readonly PointPair[]): Promise<Written> {
    const pairs = candidates.filter(isDue);
    const sources = pairs.flatMap((pair) =>
      pair.from ? [{ point: pair.from, isNew: !pair.to }] : [],
    );
    const inserts = sources.filter(({ isNew }) => isNew).map(({ point }) => point);
    const replacements = sources.filter(({ isNew }) => !isNew).map(({ point }) => point);
    const deletions = pairs.filter((pair) => !pair.from).map(({ id }) => id);
    await writer.insert(inserts);
    await writer.replace(replacements);
    if (deletions.length > 0) await assertRemovable();
    await writer.remove(deletions);
    return {
      inserted: inserts.length,
      replaced: replacements.length,
      deleted: deletions.length,
    };
  }

  // What seems to be deleted is read again, before it is deleted here.
  async function withSource(pairs: readonly PointPair[]): Promise<PointPair[]> {
    const points = await pointsById(
      from,
      pairs.filter((pair) => !pair.from),
    );
    return pairs.map((pair) => (pair.from ? pair : { ...pair, from: points.get(pair.id) }));
  }

  async function readAgain(pairs: readonly PointPair[]): Promise<PointPair[]> {
    const [ours, theirs] = await Promise.all([pointsById(from, pairs), pointsById(to, pairs)]);
    return pairs.map(({ id }) => ({ id, from: ours.get(id), to: theirs.get(id) }));
  }

  /** Whether this walk writes it. */
  function isDue(pair: PointPair): boolean {
    const difference = differenceOf(pair);
    if (mode === 'insert') return difference === 'missing';
    return mode !== 'compare' && difference !== undefined;
  }

  function differenceOf(pair: PointPair): Difference | undefined {
    if (!found.has(pair)) found.set(pair, findDifference(pair));
    return found.get(pair);
  }

  function findDifference({ from: ours, to: theirs }: PointPair): Difference | undefined {
    if (!ours) return theirs && 'extra';
    if (!theirs) return 'missing';
    if (!samePayload(ours.payload, theirs.payload)) return 'payload';
    if (!sameVector(ours.vector, theirs.vector)) return 'vector';
    const isKnown = keywords === 'by-store' && ours !== theirs;
    return isKnown && lacksKeywords(theirs) ? 'keywords' : undefined;
  }
}

export async function pointsById(
  { store, collection }: CollectionPlace,
  wanted: readonly { readonly id: PointId }[],
  parts?: PointParts,
): Promise<ReadonlyMap<PointId, ScrolledPoint>> {
  if (wanted.length === 0) return new Map();
  const ids = wanted.map(({ id }) => id);
  const points = await store.retrieve(collection, ids, parts);
  return new Map(points.map((point) => [point.id, point]));
}

const NOTHING_WRITTEN: Written = { inserted: 0, replaced: 0, deleted: 0 };

function added(one: Written, other: Written): Written {
  return {
    inserted: one.inserted + other.inserted,
    replaced: one.replaced + other.replaced,
    deleted: one.deleted + other.deleted,
  };
}

function withBatch(
  before: ReconcileReport,
  pairs: readonly PointPair[],
  batch: Written & {
    readonly differenceOf: (pair: PointPair) => Difference | undefined;
    readonly countsGaps: boolean;
  },
): ReconcileReport {
  const from = createSide(before.from);
  const to = createSide(before.to);
  const pending = { ...before.pending };
  const examples = [...before.examples];
  let { withoutKeywords } = before;
  for (const pair of pairs) {
    const digest = from.add(pair.from);
    to.add(pair.to, pair.to?.payload === pair.from?.payload ? digest : undefined);
    if (batch.countsGaps && pair.to && lacksKeywords(pair.to)) withoutKeywords += 1;
    const difference = batch.differenceOf(pair);
    if (difference === undefined) continue;
    pending[difference] += 1;
    if (examples.length < MAX_EXAMPLES) examples.push(pair.id);
  }
  return {
    ...added(before, batch),
    compared: before.compared + pairs.length,
    from: from.report(),
    to: to.report(),
    pending,
    examples,
    withoutKeywords,
  };
}

function createSide(before: SideReport) {
  const digests = createDigestSum(before.digest);
  const users = createDigestSum(before.usersDigest);
  let { points } = before;
  return {
    /** @param known the digest of the point, where it was computed already */
    add(point: ScrolledPoint | undefined, known?: Buffer): Buffer | undefined {
      if (!point) return undefined;
      const digest = known ?? digestOf(point.id, point.payload);
      digests.add(digest);
      users.add(userHash(userOf(point.payload)));
      points += 1;
      return digest;
    },
    report: (): SideReport => ({ points, digest: digests.text(), usersDigest: users.text() }),
  };
}

interface Side extends CollectionPlace {
  readonly request: ScrollRequest;
}

/** Both collections in order of id: a point that only one of them has shows at once. */
export async function* pairedPoints(from: Side, to: Side): AsyncGenerator<PointPair, void, void> {
  const left = createCursor(from);
  const right = createCursor(to);
  for (;;) {
    const ours = left.peek() ?? (await left.fill());
    const theirs = right.peek() ?? (await right.fill());
    const order = orderOf(ours, theirs);
    const id = (order > 0 ? theirs : ours)?.id;
    if (id === undefined) return;
    yield {
      id,
      from: order <= 0 ? left.take() : undefined,
      to: order >= 0 ? right.take() : undefined,
    };
  }
}

function orderOf(ours: ScrolledPoint | undefined, theirs: ScrolledPoint | undefined): number {
  if (!ours || !theirs) return ours ? -1 : 1;
  return comparePointIds(ours.id, theirs.id);
}

function createCursor({ request, ...place }: Side) {
  const pages = pagesOf(place, request);
  let points: readonly ScrolledPoint[] = [];
  let at = 0;

  async function fill(): Promise<ScrolledPoint | undefined> {
    while (at >= points.length) {
      const { done, value } = await pages.next();
      if (done) return undefined;
      points = value.points;
      at = 0;
    }
    return points[at];
  }

  function take(): ScrolledPoint | undefined {
    at += 1;
    return points[at - 1];
  }

  return { peek: () => points[at], fill, take };
}

export interface ReconcilePorts {
  /** Stores it durably. Called after the work that it reports. */
  readonly saveCheckpoint: (checkpoint: ReconcileCheckpoint) => Promise<void>;
  /** Renews the lock. Called immediately before every write; throws when another invocation has taken over. */
  readonly renew?: () => Promise<void>;
  /** Called before points are removed that the first collection was just read not to have; throws where it was damaged. */
  readonly assertRemovable?: () => Promise<void>;
  /** True when it is time to stop and be invoked again. Asked after every page. */
  readonly isTimeUp?: () => boolean;
}
