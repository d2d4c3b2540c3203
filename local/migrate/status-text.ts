// The status of a run as a page that a person reads.

import { asPrintable } from '../../lib/migration/runs/printable.ts';
import { liveCollectionOf } from '../../lib/migration/runs/run-names.ts';
import type { Status } from '../../lib/migration/steps/status.ts';
import { askedOf } from './asked-text.ts';
import { countText, durationText, timeText } from './durations.ts';
import { COMMAND_LINE, whatsNext } from './whats-next.ts';

type Evidence = Status['evidence'][number];
type Gate = Status['gates'][number];

/** @param stage that the run is on, if any: for the commands */
export function statusAsText(status: Status, stage?: string): string {
  return [
    ...headLines(status),
    ...section(
      'Evidence',
      status.evidence.flatMap((each) => evidenceLines(each, status.at)),
    ),
    ...section(
      'Approvals',
      status.gates.map((gate) => gateLine(gate, status.at)),
    ),
    ...section(
      'To be done by a person',
      askedOf(status).map(
        ({ toDo, since }) => `${toDo}${since ? ` (asked ${timeText(since)})` : ''}`,
      ),
    ),
    ...nextLines(status, stage),
  ]
    .map(asPrintable)
    .join('\n');
}

export function nextLines(status: Status, stage?: string): string[] {
  const next = whatsNext(status, stage);
  if (next.length === 0) return ['Next: nothing, the run has ended.'];
  const onwards = goesOn(status);
  return section(
    'Next',
    next.map(({ command, by }) => {
      const mark = command.startsWith(`${onwards} `) ? '->' : '  ';
      const whom = by.map((name) => actor(name, command)).join(' or ');
      return `${mark} ${COMMAND_LINE} ${command}   (${whom})`;
    }),
  );
}

/** Whatever is asked of a person is waited for, unless it is too late for it. */
function goesOn({ next, gates, isLate }: Status): string | null {
  const asked = gates.find(({ isOpen }) => !isOpen);
  if (!asked || isLate) return next;
  return asked.digest === null ? 'copy' : 'approve';
}

function headLines(status: Status): string[] {
  const { runId, phase, phaseAt, startedAt, endedAt, testUser, at } = status;
  const since = phaseAt
    ? ` since ${timeText(phaseAt)} (${durationText(between(phaseAt, at))})`
    : '';
  return [
    `Run ${runId}: ${phase}${since}`,
    ...row('started', startedAt && timeText(startedAt)),
    ...row('ended', endedAt && timeText(endedAt)),
    ...row('plan', planText(status.plan)),
    ...row('test user', `${testUser}, to whom the backend's key has to map`),
    ...row('window', windowText(status)),
    ...row('way back', wayBackText(status)),
    ...row('progress', progressText(status)),
  ];
}

function planText(plan: Status['plan']): string {
  const removed = [
    ...(plan.removesWhenOver ? ['the old collection'] : []),
    ...(plan.removesArtifactsWhenOver ? ['the backups'] : []),
  ];
  return [
    `${plan.sourceCollection} to ${liveCollectionOf({ plan })}`,
    `a window of ${countText(plan.windowMinutes, 'minute')}`,
    `a way back for ${countText(plan.retentionDays, 'day')}`,
    `${removed.join(' and ') || 'nothing'} removed after it`,
    ...(plan.vectorSample ? [`about ${plan.vectorSample} vectors compared`] : []),
    ...(plan.accepts.length > 0 ? [`accepts ${plan.accepts.join(', ')}`] : []),
  ].join('; ');
}

/** Of a run that has not come out of it. */
function windowText({ deadlineAt, endedAt, retention, at }: Status): string | null {
  if (!deadlineAt || endedAt || retention) return null;
  const left = between(at, deadlineAt);
  return left > 0
    ? `closes at ${timeText(deadlineAt)}, ${durationText(left)} left`
    : `closed at ${timeText(deadlineAt)}: the machine goes back unless users were let in`;
}

function wayBackText({ phase, retention }: Status): string | null {
  if (!retention || phase === 'returned') return null;
  const { until, daysLeft, isOver, isEnding } = retention;
  if (isOver) return `ended at ${timeText(until)}`;
  const days = `${countText(daysLeft, 'day')} left`;
  return `until ${timeText(until)}, ${days}${isEnding ? ': it ends soon' : ''}`;
}

function progressText({ progress, at }: Status): string | null {
  if (!progress) return null;
  const { step, done, total, perSecond, savedAt } = progress;
  const share = total > 0 ? ` (${Math.floor((done / total) * 100)} %)` : '';
  const rate = perSecond === undefined ? '' : `, ${Math.round(perSecond)} a second`;
  const age = savedAt ? `, heard of ${durationText(between(savedAt, at))} ago` : '';
  return `${step}: ${done} of ${total}${share}${rate}${age}`;
}

function evidenceLines({ kind, artifact, digest, recordedAt, facts }: Evidence, at: string) {
  const age = recordedAt ? `${durationText(between(recordedAt, at))} old` : '';
  const told = Object.entries(facts).map(([name, value]) => `${name} ${factText(name, value)}`);
  return [
    `${kind.padEnd(20)} ${age}, ${artifact}, digest ${shortened(digest)}`,
    ...(told.length > 0 ? [`${' '.repeat(21)}${told.join(', ')}`] : []),
  ];
}

function factText(name: string, value: string | number | boolean): string {
  if (typeof value === 'number' && /(At|Until)$/.test(name)) {
    return timeText(new Date(value).toISOString());
  }
  return shortened(String(value));
}

/** The whole digest is in the command that needs it. */
function shortened(text: string): string {
  return /^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 16)}…` : text;
}

const WHY: Readonly<Record<string, string>> = {
  RefusedOtherEvidence: 'void, for the evidence was renewed',
  RefusedExpiredApproval: 'expired',
};

function gateLine(asked: Gate, at: string): string {
  const { gate, evidence, digest, isOpen, approvedBy, approvedUntil, why } = asked;
  const name = gate.padEnd(9);
  if (digest === null) return `${name} cannot be given: the ${evidence} did not pass`;
  if (!approvedBy || !approvedUntil) return `${name} not given; it is of the ${evidence}`;
  const said = `by ${approvedBy} until ${timeText(approvedUntil)}`;
  return isOpen
    ? `${name} given ${said}, ${durationText(between(at, approvedUntil))} left`
    : `${name} ${WHY[why ?? ''] ?? why}; it was given ${said}`;
}

function actor(name: string, command: string): string {
  if (name !== 'machine') return 'an operator';
  return command.startsWith('retention') ? 'the watch, on its day' : 'the state machine';
}

function between(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

function row(name: string, text: string | null): string[] {
  return text === null ? [] : [`  ${name.padEnd(10)} ${text}`];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}
