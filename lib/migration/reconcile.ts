// Walks two collections side by side, in order of id and in constant memory, and makes the second equal to the first. If a point
// differs, the last common version decides: a change that only the second collection made is copied to the first. The content of
// a change that is overwritten is kept in the report.
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

/** Progress of a walk. All work that it reports is durable. */
export interface ReconcileCheckpoint {
  readonly isComplete: boolean;
  /** First point that has not been compared yet */
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

/** A later walk includes the earlier ones: their writes in its report, their removals in its limits. */
export function startAfter({
  report: { inserted, replaced, deleted },
  removals,
}: Pick<ReconcileCheckpoint, 'report' | 'removals'>): ReconcileCheckpoint {
  const report = { ...NOTHING_COMPARED, inserted, replaced, deleted };
  return { ...RECONCILE_START, report, ...(removals && { removals }) };
}

/**
 * Continues from a checkpoint, to the end or until time is up. After a kill, the walk since the last checkpoint is repeated; it
 * finds the repaired points equal.
 */
export async function reconcile(
  settings: ReconcileSettings,
  ports: ReconcilePorts,
  start: ReconcileCheckpoint = RECONCILE_START,
): Promise<ReconcileCheckpoint> {
  if (start.isComplete) return start;
  const { base } = ports;
  const writer = base?.write && createBaseWriter(base, base.write, start.base);
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
    // Few pages are saved: reading equal pages again is quick.
    if (writer && !isDue && pages % PAGES_PER_CHECKPOINT > 0) return isTimeUp;
    const progress = writer && (await writer.flush(nextOffset));
    const isComplete = nextOffset === null;
    const withRemovals = removals.first + removals.second > 0 && { removals };
    checkpoint = {
      isComplete,
      nextOffset,
      report,
      ...withRemovals,
      ...(progress && { base: progress }),
    };
    await ports.saveCheckpoint(checkpoint);
    return isTimeUp;
  }

  for await (const pair of readComparedPairs(settings, start.nextOffset, base)) {
    if (batch.length >= settings.pageSize && (await save(pair.id))) return checkpoint;
    batch.push(pair);
  }
  await save(null);
  return checkpoint;
}

/** Pages per checkpoint, and per part of the last common version: a kill repeats at most this many. */
const PAGES_PER_CHECKPOINT = 16;

function readComparedPairs(
  { from, to, pageSize, without }: ReconcileSettings,
  offset: PointId | null,
  base: BaseAccess | undefined,
): AsyncIterable<ComparedPair> {
  const request = { limit: pageSize, offset };
  const left = readPoints(from, request, without);
  return mergeVersions(left, readPoints(to, request, without), base);
}

export interface ReconcilePorts extends ResolvePorts {
  /** Stores the checkpoint durably. Called after the work that it reports. */
  readonly saveCheckpoint: (checkpoint: ReconcileCheckpoint) => Promise<void>;
  /** Called after every page: true if the walk must stop and continue in the next invocation */
  readonly isTimeUp?: () => boolean;
}
