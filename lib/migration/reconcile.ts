// Walks two collections side by side, in order of id and in constant memory, and makes the standby one equal to the active one. If
// a point differs, the last common version decides: a change that only the standby one has is copied to the active one. The
// content of overwritten changes is kept.
import { type BaseAccess, type BaseProgress, createBaseWriter, mergeVersions } from './base.ts';
import { readPoints } from './pairs.ts';
import type { PointId } from './ports/vector-store.ts';
import { NOTHING_COMPARED, type ReconcileReport } from './reconcile-report.ts';
import {
  type ComparedPair,
  createResolver,
  type ReconcileSettings,
  type Removals,
  type ResolvePorts,
} from './resolver.ts';
import type { Walk } from './runs/journal.ts';

/** State from which a walk can resume; all work that its report contains is durable. */
export interface ReconcileCheckpoint extends Reconciled {
  /** First point that has not been compared yet */
  readonly nextOffset: PointId | null;
  readonly base?: BaseProgress;
}

export interface Reconciled {
  readonly report: ReconcileReport;
  /** Removals from each collection, recorded before they are carried out: a kill does not reset them. */
  readonly removals?: Removals;
}

const RECONCILE_START: ReconcileCheckpoint = { nextOffset: null, report: NOTHING_COMPARED };

/** Starts another walk: its report includes the writes of the earlier one, and its limits count the earlier removals. */
export function startAfter({
  report: { inserted, replaced, deleted },
  removals,
}: Reconciled): ReconcileCheckpoint {
  const report = { ...NOTHING_COMPARED, inserted, replaced, deleted };
  return { ...RECONCILE_START, report, ...(removals && { removals }) };
}

/** After a kill, the work since the last checkpoint is repeated; repaired points are then equal. @throws Paused when time is up */
export async function reconcile(
  settings: ReconcileSettings,
  ports: ReconcilePorts,
): Promise<Reconciled> {
  const { base, cursor: start = RECONCILE_START, total = 0 } = ports;
  const writer = base?.write && createBaseWriter(base, base.write, start.base);
  let removals = start.removals ?? { first: 0, second: 0 };
  let checkpoint = start;
  let { report } = start;
  let pages = 0;
  const resolve = createResolver(settings, ports, {
    removals: () => removals,
    countRemovals: async (newRemovals) => {
      removals = newRemovals;
      await ports.saveCursor({ ...checkpoint, removals });
    },
    recordPendingInserts: async (ids) =>
      await writer?.recordPendingInserts(ids, checkpoint.nextOffset),
    addLine: (id, digest) => writer?.add(id, digest),
  });
  const toReconciled = () => ({
    report,
    ...(removals.first + removals.second > 0 && { removals }),
  });
  let batch: ComparedPair[] = [];

  /** @returns whether memories were inserted */
  async function resolveBatch(): Promise<boolean> {
    const resolved = await resolve(report, batch);
    report = resolved.report;
    batch = [];
    pages += 1;
    return resolved.hasInserted;
  }

  async function createCheckpoint(nextOffset: PointId): Promise<ReconcileCheckpoint> {
    const progress = writer && (await writer.flush(nextOffset));
    checkpoint = { ...toReconciled(), nextOffset, ...(progress && { base: progress }) };
    return checkpoint;
  }

  for await (const pair of readComparedPairs(settings, start.nextOffset, base)) {
    if (batch.length >= settings.pageSize) {
      const hasInserted = await resolveBatch();
      // Checkpoints are rare: reading equal pages again is quick.
      const isDue = !writer || hasInserted || pages % PAGES_PER_CHECKPOINT === 0;
      const progress = { done: report.compared, total };
      await ports.checkpoint(() => createCheckpoint(pair.id), { isDue, progress });
    }
    batch.push(pair);
  }
  await resolveBatch();
  await writer?.flush(null);
  return toReconciled();
}

/** Pages per checkpoint, and per part of the last common version: a kill repeats at most this many. */
const PAGES_PER_CHECKPOINT = 16;

function readComparedPairs(
  { from, to, pageSize, excludedUser }: ReconcileSettings,
  offset: PointId | null,
  base: BaseAccess | undefined,
): AsyncIterable<ComparedPair> {
  const request = { limit: pageSize, offset };
  const activePoints = readPoints(from, request, excludedUser);
  return mergeVersions(activePoints, readPoints(to, request, excludedUser), base);
}

export interface ReconcilePorts extends ResolvePorts, Walk<ReconcileCheckpoint> {
  /** Points that the walk is expected to compare */
  readonly total?: number;
}
