// Formats the status of a run for people.
import { isSwitching } from '../../../lib/migration/phases.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import type { Invoker } from './invoker.ts';
import { DIGEST_DIGITS, describeUsers, formatNextSteps, listNextSteps } from './next-steps.ts';
import { findPendingAction } from './pending-action.ts';
import { formatPlan } from './plan-text.ts';
import { capitalise } from './run-step.ts';
import { formatCount, formatDuration, formatProgress } from './text.ts';

export function formatStatus(status: Status, { stage, where }: Pick<Invoker, 'stage' | 'where'>) {
  const { runId, phase, plan, phaseAt, startedAt, endedAt, testUser, at } = status;
  const since = phaseAt ? ` for ${formatDuration(measureMilliseconds(phaseAt, at))}` : '';
  return [
    `Run ${runId}: ${phase}${since} (${where})`,
    ...formatRow('started', startedAt),
    ...formatRow('ended', endedAt),
    ...formatPlan(plan),
    ...formatRow('test user', `${testUser}; MEMORY_BACKEND_KEY must belong to this user`),
    ...formatRow('window', describeWindow(status)),
    ...formatRow('users', describeUsersInWindow(status)),
    ...formatRow('refused', status.refused && `${status.refused.name}: ${status.refused.why}`),
    ...formatRow('rollback', describeRollback(status)),
    ...formatRow('progress', describeProgress(status)),
    ...formatRow(
      'max rate',
      status.maxRate ? `${formatCount(status.maxRate, 'point')} per second` : null,
    ),
    ...formatRow('lock', describeLock(status)),
    ...status.evidence.flatMap((evidence) => formatEvidence(evidence, at)),
    ...formatRow('to approve', describeApproval(status)),
    ...formatPendingAction(status),
    ...formatLeftBehind(status),
    ...formatNextSteps(listNextSteps(status, stage)),
  ].join('\n');
}

/** Says which writes a rollback left behind, and what a person must check; empty until a rollback has ended */
export function formatLeftBehind({
  phase,
  evidence,
  kept,
  served,
  takesNoWindow,
}: Status): string[] {
  const keptLines = kept.map(
    (name) => `Collection ${name} is kept, as it alone may hold some memories: compare it by hand.`,
  );
  const { facts } = evidence.find(({ kind }) => kind === 'rollback-report') ?? {};
  // If users are on the new version, the rollback report is from an earlier window.
  if (!facts || phase === 'live' || phase === 'closed') return keptLines;
  const { leftBehind, lacking, comparedByHand, oldVersion } = facts;
  const leftBehindLine =
    leftBehind === 'unknown'
      ? 'Left behind: unknown, the new collection could not be read.'
      : `Left behind: ${leftBehind ? formatCount(Number(leftBehind), 'write') : 'no writes'}.`;
  const missingLine = `Not counted: ${formatCount(Number(lacking), 'old memory')} missing from the new collection.`;
  const notCopiedLine = `Collection ${comparedByHand} has writes that were not carried over: compare it by hand.`;
  const retainedLines = served.map(
    ({ collection, until }) => `Collection ${collection} is kept until ${until}, as users left it.`,
  );
  const blockedLine = `Cutover blocked: ${takesNoWindow}.`;
  const unprovedLine = 'The backend did not say whether it runs the old version: check it.';
  return [
    leftBehindLine,
    ...(lacking ? [missingLine] : []),
    ...(comparedByHand ? [notCopiedLine] : []),
    ...retainedLines,
    ...(takesNoWindow ? [blockedLine] : []),
    ...(oldVersion === 'unproved' ? [unprovedLine] : []),
    ...keptLines,
  ];
}

function describeWindow({
  phase,
  phaseAt,
  deadlineAt,
  endedAt,
  retention,
  at,
}: Status): string | null {
  if (phase === 'switching-back') {
    const since = phaseAt ? ` since ${phaseAt}` : '';
    return `rolling back${since}, without a deadline`;
  }
  if (!deadlineAt || endedAt || retention) return null;
  const remainingMs = measureMilliseconds(at, deadlineAt);
  return remainingMs > 0
    ? `closes at ${deadlineAt}, ${formatDuration(remainingMs)} left`
    : `closed at ${deadlineAt}: an unfinished cutover is rolled back`;
}

function describeUsersInWindow(status: Status): string {
  const { frozenSince, at } = status;
  const text = describeUsers(status);
  if (!isSwitching(status.phase)) return text;
  if (!frozenSince) return `${text} No refused write has proved that yet.`;
  return `${text} The first write was refused at ${frozenSince}, ${formatDuration(measureMilliseconds(frozenSince, at))} ago.`;
}

function describeRollback({ endedAt, retention }: Status): string | null {
  if (!retention || endedAt) return null;
  const { until, daysLeft, isOver, isEnding } = retention;
  if (isOver) return `no longer possible since ${until}`;
  const days = `${formatCount(daysLeft, 'day')} left`;
  return `possible until ${until}, ${days}${isEnding ? ', ends soon' : ''}`;
}

function describeProgress({ progress, at }: Status): string | null {
  if (!progress) return null;
  const { step, savedAt } = progress;
  const age = savedAt ? `, ${formatDuration(measureMilliseconds(savedAt, at))} ago` : '';
  return `${capitalise(step)}: ${formatProgress(step, progress)}${age}`;
}

function describeLock({ lock, at }: Status): string | null {
  if (!lock?.since || !lock.until) return null;
  const age = formatDuration(measureMilliseconds(lock.since, at));
  return `held by a step since ${lock.since}, ${age} ago; if the step crashed, the lock expires at ${lock.until}`;
}

function formatEvidence(
  { kind, artifact, digest, recordedAt }: Status['evidence'][number],
  at: string,
) {
  const age = recordedAt ? `${formatDuration(measureMilliseconds(recordedAt, at))} old, ` : '';
  return formatRow(kind, `${age}digest ${digest.slice(0, DIGEST_DIGITS)}, ${artifact}`);
}

function describeApproval({ approval }: Status): string | null {
  if (!approval?.digest) return null;
  const { evidence, digest } = approval;
  return `the ${evidence} with digest ${digest.slice(0, DIGEST_DIGITS)}, which opens the window`;
}

function formatPendingAction(status: Status): string[] {
  const pending = findPendingAction(status);
  if (!pending) return [];
  const since = pending.since ? ` (since ${pending.since})` : '';
  return [`To do by hand: ${pending.toDo}${since}`];
}

function measureMilliseconds(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

function formatRow(name: string, text: string | null): string[] {
  return text === null ? [] : [`  ${name.padEnd(20)} ${text}`];
}
