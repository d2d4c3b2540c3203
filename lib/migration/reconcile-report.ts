// Report of a walk over two collections: the contents of both, the remaining differences, and the late writes to the standby
// collection. Its size does not depend on the number of differences.
import { haveSameDigest } from './fate.ts';
import type { PointPair } from './pairs.ts';
import {
  createDigestSum,
  digestPoint,
  EMPTY_SET,
  hashUser,
  lacksKeywords,
  readOwner,
} from './points.ts';
import type { PointId, ScrolledPoint } from './ports/vector-store.ts';

export const DIFFERENCES = ['missing', 'extra', 'payload', 'vector', 'keywords'] as const;

export type Difference = (typeof DIFFERENCES)[number];

interface SideReport {
  readonly points: number;
  readonly digest: string;
  readonly usersDigest: string;
}

/** Plain JSON of constant size */
export interface ReconcileReport {
  readonly compared: number;
  /** Contents of both sides after the walk */
  readonly from: SideReport;
  readonly to: SideReport;
  readonly inserted: number;
  readonly replaced: number;
  readonly deleted: number;
  /** Points that still differ: a client changed them meanwhile, or the store did not keep the repair. */
  readonly pending: Readonly<Record<Difference, number>>;
  /** Pending points that no client has changed: the store did not keep even repeated repairs. */
  readonly stuck?: number;
  readonly examples: readonly PointId[];
  /** Points with text but without a keyword vector, as the store cannot make one */
  readonly withoutKeywords: number;
  /** Late writes: changes to the standby collection since both collections were equal */
  readonly strays: LateWrites;
}

export interface LateWrites {
  readonly writes: number;
  /** Overwritten: the active collection has changed the point as well. */
  readonly overruled: number;
  /** Not applied: no user made them, or there are too many. */
  readonly withheld: number;
  /** Deletions that were not overwritten */
  readonly lacking: number;
  /** Changes that were not overwritten */
  readonly changed: number;
}

const EMPTY_SIDE: SideReport = { points: 0, digest: EMPTY_SET, usersDigest: EMPTY_SET };

export const NOTHING_COMPARED: ReconcileReport = {
  compared: 0,
  from: EMPTY_SIDE,
  to: EMPTY_SIDE,
  inserted: 0,
  replaced: 0,
  deleted: 0,
  pending: { missing: 0, extra: 0, payload: 0, vector: 0, keywords: 0 },
  examples: [],
  withoutKeywords: 0,
  strays: { writes: 0, overruled: 0, withheld: 0, lacking: 0, changed: 0 },
};

const MAX_EXAMPLES = 20;

/** Lists the ways in which the collections differ; empty if they are equal. */
export function listProblems(report: ReconcileReport): string[] {
  const { from, to } = report;
  return [
    ...listPending(report),
    ...(haveSameDigest(from, to) ? [] : ['contents differ']),
    ...(from.usersDigest === to.usersDigest ? [] : ['counts per user differ']),
  ];
}

/** Formats the numbers of pending points, by kind of difference. */
export function listPending({ pending }: ReconcileReport): string[] {
  const kinds = DIFFERENCES.filter((difference) => pending[difference] > 0);
  return kinds.map((difference) => `${difference}: ${pending[difference]}`);
}

export type Written = Pick<ReconcileReport, 'inserted' | 'replaced' | 'deleted'>;

export const NOTHING_WRITTEN: Written = { inserted: 0, replaced: 0, deleted: 0 };

/** Adds two records with the same fields, field by field. */
export function addFigures<Figures extends { readonly [Name in keyof Figures]: number }>(
  first: Figures,
  second: Figures,
): Figures {
  const sums = Object.entries<number>(first).map(([name, value]) => {
    return [name, value + second[name as keyof Figures]];
  });
  return Object.fromEntries(sums);
}

export function addBatch<Pair extends PointPair>(
  previous: ReconcileReport,
  pairs: readonly Pair[],
  batch: {
    readonly written: Written;
    readonly stuck: number;
    readonly compareOnce: (pair: Pair) => Difference | undefined;
    /** True if each collection keeps its own version; the active one is then recorded as the common version. */
    readonly keepsBoth: (pair: Pair) => boolean;
    readonly countsMissingKeywords: boolean;
    readonly strays: LateWrites;
    readonly addLine: (id: PointId, digest: Buffer) => void;
  },
): ReconcileReport {
  const from = createSideTotals(previous.from);
  const to = createSideTotals(previous.to);
  const pending = { ...previous.pending };
  const examples = [...previous.examples];
  const { inserted, replaced, deleted } = previous;
  let { withoutKeywords } = previous;
  for (const pair of pairs) {
    const activeDigest = from.add(pair.active);
    const standbyDigest = to.add(
      pair.standby,
      pair.standby?.payload === pair.active?.payload ? activeDigest : undefined,
    );
    const commonDigest = batch.keepsBoth(pair) ? activeDigest : standbyDigest;
    if (commonDigest) batch.addLine(pair.id, commonDigest);
    if (batch.countsMissingKeywords && pair.standby && lacksKeywords(pair.standby))
      withoutKeywords += 1;
    const difference = batch.compareOnce(pair);
    if (difference === undefined) continue;
    pending[difference] += 1;
    if (examples.length < MAX_EXAMPLES) examples.push(pair.id);
  }
  return {
    ...addFigures({ inserted, replaced, deleted }, batch.written),
    compared: previous.compared + pairs.length,
    from: from.report(),
    to: to.report(),
    pending,
    ...((previous.stuck ?? 0) + batch.stuck > 0 && { stuck: (previous.stuck ?? 0) + batch.stuck }),
    examples,
    withoutKeywords,
    strays: addFigures(previous.strays, batch.strays),
  };
}

function createSideTotals(previous: SideReport) {
  const digests = createDigestSum(previous.digest);
  const users = createDigestSum(previous.usersDigest);
  let { points } = previous;
  return {
    /** @param knownDigest digest of the point, if it was computed already */
    add(point: ScrolledPoint | undefined, knownDigest?: Buffer): Buffer | undefined {
      if (!point) return undefined;
      const digest = knownDigest ?? digestPoint(point.id, point.payload);
      digests.add(digest);
      users.add(hashUser(readOwner(point.payload)));
      points += 1;
      return digest;
    },
    report: (): SideReport => ({ points, digest: digests.toHex(), usersDigest: users.toHex() }),
  };
}
