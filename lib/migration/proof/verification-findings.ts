// What a verification has seen so far, and the verdict on it. Small enough for a checkpoint: differences, not lists.
import { hasKeywords } from '../copy/keyword-slot.ts';
import type { PointPair } from '../copy/paired-points.ts';
import { keywordTextOf, userIdOf } from '../json/memory-payload.ts';
import type { PointId, PointPayload, ScrolledPoint } from '../ports/vector-store.ts';
import { digestOf, EMPTY_SET, type SetDigest, withDigest } from './point-digest.ts';
import { userDigest } from './user-digest.ts';
import { TOLERANCE } from './vector-comparison.ts';

/** How often something was found, and the first points it was found in. */
export interface Finding {
  readonly count: number;
  readonly examples: readonly PointId[];
}

export interface Findings {
  readonly sourcePoints: number;
  readonly targetPoints: number;
  /** Over ids and payloads: the fingerprint of each side. */
  readonly sourceDigest: SetDigest;
  readonly targetDigest: SetDigest;
  /** In the source only. */
  readonly missing: Finding;
  /** In the target only. */
  readonly extra: Finding;
  readonly changedPayloads: Finding;
  /** Hashes of user ids, with how many memories more (or below zero: fewer) the target has. */
  readonly userDifferences: Readonly<Record<string, number>>;
  readonly vectorsCompared: number;
  readonly changedVectors: Finding;
  readonly largestDifference: number;
  /** Points of the target with words a keyword vector can be made of. */
  readonly withText: number;
  /** Of those: without a keyword vector. */
  readonly withoutKeywords: Finding;
}

/** What did not hold; none when the two are equal. */
export type Fault =
  | 'totals-differ'
  | 'points-missing'
  | 'points-extra'
  | 'payloads-differ'
  | 'users-differ'
  | 'vectors-differ'
  | 'keywords-missing'
  | 'changed-meanwhile';

export interface VerificationReport {
  readonly isPassed: boolean;
  readonly faults: readonly Fault[];
  /** What the verdict holds for: another fingerprint of the source needs another verification. */
  readonly sourceFingerprint: SetDigest;
  readonly counts: ExactCounts;
  readonly findings: Findings;
  readonly acceptedKeywordGaps: number;
}

/** As the store counts them, after everything was compared. */
export interface ExactCounts {
  readonly source: number;
  readonly target: number;
}

const NONE: Finding = { count: 0, examples: [] };
const MOST_EXAMPLES = 20;

// Past that many the verdict is clear, and the record must stay small: each of them shows as missing,
// extra or changed points, too.
const MOST_USERS = 500;

export const NOTHING_FOUND: Findings = {
  sourcePoints: 0,
  targetPoints: 0,
  sourceDigest: EMPTY_SET,
  targetDigest: EMPTY_SET,
  missing: NONE,
  extra: NONE,
  changedPayloads: NONE,
  userDifferences: {},
  vectorsCompared: 0,
  changedVectors: NONE,
  largestDifference: 0,
  withText: 0,
  withoutKeywords: NONE,
};

export function withPair(before: Findings, { id, source, target }: PointPair): Findings {
  const ours = source && digestOf(id, source.payload);
  const isSameText = source?.payload === target?.payload;
  const theirs = target && (isSameText ? ours : digestOf(id, target.payload));
  const isChanged = ours !== undefined && theirs !== undefined && ours !== theirs;
  return {
    ...before,
    sourcePoints: before.sourcePoints + (source ? 1 : 0),
    targetPoints: before.targetPoints + (target ? 1 : 0),
    sourceDigest: ours ? withDigest(before.sourceDigest, ours) : before.sourceDigest,
    targetDigest: theirs ? withDigest(before.targetDigest, theirs) : before.targetDigest,
    missing: noted(before.missing, id, !target),
    extra: noted(before.extra, id, !source),
    changedPayloads: noted(before.changedPayloads, id, isChanged),
    userDifferences: isSameText
      ? before.userDifferences
      : userDifferences(before.userDifferences, source, target),
    ...keywordFindings(before, id, target),
  };
}

export function withVectorDifference(before: Findings, id: PointId, difference: number): Findings {
  return {
    ...before,
    vectorsCompared: before.vectorsCompared + 1,
    changedVectors: noted(before.changedVectors, id, !(difference <= TOLERANCE)),
    // JSON has no infinity.
    largestDifference: Math.max(before.largestDifference, Math.min(difference, Number.MAX_VALUE)),
  };
}

export function toReport(
  findings: Findings,
  counts: ExactCounts,
  acceptedKeywordGaps: number,
): VerificationReport {
  const faults = faultsIn(findings, counts, acceptedKeywordGaps);
  return {
    isPassed: faults.length === 0,
    faults,
    sourceFingerprint: findings.sourceDigest,
    counts,
    findings,
    acceptedKeywordGaps,
  };
}

function faultsIn(found: Findings, counts: ExactCounts, acceptedKeywordGaps: number): Fault[] {
  const { source, target } = counts;
  const checks: Readonly<Record<Fault, boolean>> = {
    'totals-differ': source !== target,
    'points-missing': found.missing.count > 0,
    'points-extra': found.extra.count > 0,
    'payloads-differ': found.changedPayloads.count > 0 || found.sourceDigest !== found.targetDigest,
    'users-differ': Object.keys(found.userDifferences).length > 0,
    'vectors-differ':
      found.changedVectors.count > 0 || (found.sourcePoints > 0 && found.vectorsCompared === 0),
    'keywords-missing': found.withoutKeywords.count > acceptedKeywordGaps,
    'changed-meanwhile': source !== found.sourcePoints || target !== found.targetPoints,
  };
  return (Object.keys(checks) as Fault[]).filter((fault) => checks[fault]);
}

function noted(finding: Finding, id: PointId, isFound: boolean): Finding {
  if (!isFound) return finding;
  const { count, examples } = finding;
  return { count: count + 1, examples: count < MOST_EXAMPLES ? [...examples, id] : examples };
}

function userDifferences(
  before: Findings['userDifferences'],
  source: ScrolledPoint | undefined,
  target: ScrolledPoint | undefined,
): Findings['userDifferences'] {
  const ours = source && userLabel(source.payload);
  const theirs = target && userLabel(target.payload);
  if (ours === theirs) return before;
  const after: Record<string, number> = { ...before };
  if (ours !== undefined) after[ours] = (after[ours] ?? 0) - 1;
  if (theirs !== undefined) after[theirs] = (after[theirs] ?? 0) + 1;
  const unequal = Object.entries(after).filter(([, difference]) => difference !== 0);
  return Object.fromEntries(unequal.slice(0, MOST_USERS));
}

// Records and reports do not name users.
function userLabel(payload: PointPayload): string {
  const user = userIdOf(payload);
  if (user === undefined) return 'nobody';
  const userId: unknown = JSON.parse(user);
  return typeof userId === 'string' ? userDigest(userId) : 'not-a-text';
}

function keywordFindings(before: Findings, id: PointId, target: ScrolledPoint | undefined) {
  const hasText = target !== undefined && keywordTextOf(target.payload) !== undefined;
  return {
    withText: before.withText + (hasText ? 1 : 0),
    withoutKeywords: noted(before.withoutKeywords, id, hasText && !hasKeywords(target.vector)),
  };
}
