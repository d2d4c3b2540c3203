// One walk over two collections side by side, in order of id and in constant memory. It compares them point by point, and
// makes the second equal to the first. Where both may be right, a third version decides: what they had when they were last
// equal. What only the second one has changed since is carried to the first, with the content of both kept where they differ.
import { type BaseKeeper, type BaseProgress, createBaseReader, createBaseWriter } from './base.ts';
import { type PointPair, pairedPoints } from './pairs.ts';
import { userOf } from './points.ts';
import type { PointId, ScrolledPoint } from './ports/vector-store.ts';
import { NOTHING_COMPARED, type ReconcileReport } from './reconcile-report.ts';
import {
  type ComparedPair,
  createResolver,
  type ReconcileSettings,
  type Removals,
  type ResolvePorts,
} from './resolver.ts';

/** Everything that it reports is durable. */
export interface ReconcileCheckpoint {
  readonly isComplete: boolean;
  /** The first point that was not looked at yet. */
  readonly nextOffset: PointId | null;
  readonly report: ReconcileReport;
  readonly base?: BaseProgress;
  /** Removals from each collection, recorded before they are carried out: a kill does not reset them. */
  readonly removals?: Removals;
}

export const RECONCILE_START: ReconcileCheckpoint = {
  isComplete: false,
  nextOffset: null,
  report: NOTHING_COMPARED,
};

/** A later walk reports what the ones before it wrote, too, and its limits count what they removed. */
export function startAfter({
  report: { inserted, replaced, deleted },
  removals,
}: Pick<ReconcileCheckpoint, 'report' | 'removals'>): ReconcileCheckpoint {
  const report = { ...NOTHING_COMPARED, inserted, replaced, deleted };
  return { ...RECONCILE_START, report, ...(removals && { removals }) };
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
  const { base } = ports;
  const writer = base?.write && createBaseWriter(base, base.write, start.base);
  // A page that was found equal, or only compared, is quickly read again.
  const isCheapToRepeat = writer !== undefined || settings.mode === 'compare';
  let removals = start.removals ?? { first: 0, second: 0 };
  let checkpoint = start;
  let { report } = start;
  let pages = 0;
  const resolve = createResolver(settings, ports, {
    removals: () => removals,
    countRemovals: async (counted) => {
      removals = counted;
      await ports.saveCheckpoint({ ...checkpoint, removals });
    },
    recordPendingInserts: async (ids) =>
      await writer?.recordPendingInserts(ids, checkpoint.nextOffset),
    addLine: (id, digest) => writer?.add(id, digest),
  });
  let batch: ComparedPair[] = [];

  async function save(nextOffset: PointId | null): Promise<boolean> {
    const resolved = await resolve(report, batch);
    report = resolved.report;
    batch = [];
    pages += 1;
    const isTimeUp = ports.isTimeUp?.() === true;
    const isDue = nextOffset === null || isTimeUp || resolved.hasInserted;
    if (isCheapToRepeat && !isDue && pages % PAGES_PER_CHECKPOINT > 0) return isTimeUp;
    const progress = writer && (await writer.flush(nextOffset));
    const isComplete = nextOffset === null;
    const counted = removals.first + removals.second > 0 && { removals };
    checkpoint = {
      isComplete,
      nextOffset,
      report,
      ...counted,
      ...(progress && { base: progress }),
    };
    await ports.saveCheckpoint(checkpoint);
    return isTimeUp;
  }

  for await (const pair of pairsOf(settings, start.nextOffset, base)) {
    if (batch.length >= settings.pageSize && (await save(pair.id))) return checkpoint;
    batch.push(pair);
  }
  await save(null);
  return checkpoint;
}

/** Pages per checkpoint, and per part of the last common version: a kill costs at most that many pages, which are then found equal. */
const PAGES_PER_CHECKPOINT = 16;

async function* pairsOf(
  { from, to, pageSize, without, payloadsOnly = false }: ReconcileSettings,
  offset: PointId | null,
  base: BaseKeeper | undefined,
): AsyncGenerator<ComparedPair> {
  const request = { limit: pageSize, offset, vector: !payloadsOnly };
  const findVersion = base ? createBaseReader(base) : async () => 'unknown' as const;
  for await (const pair of pairedPoints({ ...from, request }, { ...to, request })) {
    const own = withoutUser(pair, without);
    if (own.from || own.to) yield { ...own, base: await findVersion(pair.id) };
  }
}

function withoutUser(pair: PointPair, user: string | undefined): PointPair {
  if (user === undefined) return pair;
  const unlessOf = (point: ScrolledPoint | undefined) =>
    point && userOf(point.payload) !== user ? point : undefined;
  return { id: pair.id, from: unlessOf(pair.from), to: unlessOf(pair.to) };
}

export interface ReconcilePorts extends ResolvePorts {
  /** Stores it durably. Called after the work that it reports. */
  readonly saveCheckpoint: (checkpoint: ReconcileCheckpoint) => Promise<void>;
  /** True when it is time to stop and be invoked again. Asked after every page. */
  readonly isTimeUp?: () => boolean;
}
