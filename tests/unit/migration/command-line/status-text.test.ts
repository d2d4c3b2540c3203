// The page that a person reads, for every phase: as the texts beside this test have it, to the letter.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Deed,
  type Evidence,
  IN_WINDOW,
  PHASES,
  type Phase,
} from '../../../../lib/migration/phases.ts';
import type { ApprovalAnswer } from '../../../../lib/migration/runs/approvals.ts';
import type { Checkpoint, Reference, Run } from '../../../../lib/migration/runs/run.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { durationText } from '../../../../local/migrate/durations.ts';
import { statusAsText } from '../../../../local/migrate/status-text.ts';
import { PLAN } from '../../../support/migration/run-table.ts';

const TEXTS = readFileSync(join(import.meta.dirname, 'status-texts.txt'), 'utf8');
const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.parse('2026-03-01T09:30:00Z');
const NOT_GIVEN = { isOpen: false, approvedBy: null, approvedUntil: null, why: null } as const;

/** What a run in the phase holds, in the order of the runbook. */
const EVIDENCE_FROM: readonly (readonly [Phase, Evidence, Reference['facts']])[] = [
  ['checked', 'preflight-report', { points: 60, users: 7 }],
  ['backed-up', 'backup-manifest', { points: 60, fingerprint: 'b'.repeat(64) }],
  ['rebuilt', 'rebuild-proof', { made: 'by-preview', isHybridProved: true }],
  ['copied', 'copy-report', { written: 60 }],
  ['verified', 'verification-report', { isPassed: true }],
  ['frozen', 'freeze-proof', { stillSeconds: 10 }],
  ['live', 'cutover-report', { liveAt: NOW - 20 * MINUTE, retainUntil: NOW + 30 * DAY }],
];

/** Of a person, where no webhook does it. */
const ASKED_IN: Partial<Record<Phase, readonly [Deed, collection: string]>> = {
  freezing: ['freeze', 'memories'],
  switching: ['deploy-new', 'memories_v3_run-a'],
  returning: ['deploy-old', 'memories'],
  staying: ['open-writes', 'memories_v3_run-a'],
};

const ENDS: readonly Phase[] = ['closed', 'returned', 'abandoned'];

function asksIn(phase: Phase): Pick<Run, 'asks'> {
  const [action, collection] = ASKED_IN[phase] ?? [];
  if (action === undefined || collection === undefined) return {};
  return { asks: { action, collection, since: NOW - 4 * MINUTE, epoch: 9 } };
}

function runIn(phase: Phase, changes: Partial<Run> = {}): Run {
  const at = PHASES.indexOf(phase);
  const isOver = phase === 'irreversible' || phase === 'closed';
  const isPast = (other: Phase) => at >= PHASES.indexOf(other) && phase !== 'abandoned';
  const held = EVIDENCE_FROM.filter(([from]) => isPast(from)).map(([, kind, facts], n) => [
    kind,
    {
      artifact: `run-a/${kind}-${n + 2}.json`,
      digest: String(n).repeat(64),
      recordedAt: NOW - (50 - n) * MINUTE,
      facts,
    },
  ]);
  return {
    runId: 'run-a',
    phase,
    phaseAt: NOW - 5 * MINUTE,
    plan: { ...PLAN, targetCollection: 'memories_v3_run-a', accepts: ['no-graph'] },
    evidence: Object.fromEntries(held),
    startedAt: NOW - 3 * DAY,
    ...(isPast('freezing') ? { deadlineAt: NOW + 18 * MINUTE + 20_000 } : {}),
    ...(isPast('live') ? { retainUntil: NOW + (isOver ? -5 * MINUTE : 30 * DAY) } : {}),
    ...(ENDS.includes(phase) ? { endedAt: NOW - 5 * MINUTE } : {}),
    ...asksIn(phase),
    ...changes,
  };
}

interface Beside {
  readonly checkpoint?: Checkpoint;
  readonly answer?: ApprovalAnswer;
  readonly stage?: string;
}

async function textOf(run: Run, { checkpoint, answer = NOT_GIVEN, stage }: Beside = {}) {
  const never = () => Promise.reject(new Error('A status asks for nothing else'));
  const services = {
    clock: () => new Date(NOW),
    lock: { latestRun: async () => run.runId },
    runs: {
      read: async () => run,
      readCheckpoint: async (_: string, step: string) => (step === 'copy' ? checkpoint : undefined),
    },
    approvals: { answerTo: async () => answer },
  };
  const nothingElse = new Proxy(services, { get: (of, name) => Reflect.get(of, name) ?? never });
  const status = await readStatus(nothingElse as unknown as Parameters<typeof readStatus>[0]);
  return statusAsText(status, stage);
}

function expected(name: string): string | undefined {
  const sections = TEXTS.split(/^=== /m).slice(1);
  const found = sections.find((section) => section.startsWith(`${name}\n`));
  return found?.slice(name.length + 1).trimEnd();
}

describe('the status of a run that is', () => {
  it.each(PHASES.filter((phase) => phase !== 'absent'))('%s', async (phase) => {
    expect(await textOf(runIn(phase))).toBe(expected(phase));
  });
});

describe('the status tells', () => {
  const seen = { approvedBy: 'ada', approvedUntil: new Date(NOW + 40 * MINUTE).toISOString() };

  it('how far and how fast a copy goes', async () => {
    const progress = { done: 20, total: 60, perSecond: 9.8 };
    const checkpoint = { state: {}, progress, savedAt: NOW - 2 * MINUTE };
    expect(await textOf(runIn('rebuilt'), { checkpoint })).toContain(
      '\n  progress   copy: 20 of 60 (33 %), 10 a second, heard of 2 minutes ago\n',
    );
  });

  it.each<[string, ApprovalAnswer, RegExp]>([
    [
      'given',
      { isOpen: true, ...seen, why: null },
      /window {4}given by ada until 2026-03-01T10:10:00Z, 40 minutes left\nNext/,
    ],
    [
      'void',
      { isOpen: false, ...seen, why: 'RefusedOtherEvidence' },
      /window {4}void, for the evidence was renewed; it was given by ada until .*\nNext:\n {2}-> npm run migrate -- approve/,
    ],
    [
      'expired',
      { isOpen: false, ...seen, why: 'RefusedExpiredApproval' },
      /window {4}expired; it was given by ada until 2026-03-01T10:10:00Z/,
    ],
  ])('whether an approval is %s, by whom and until when', async (_, answer, told) => {
    expect(await textOf(runIn('verified'), { answer })).toMatch(told);
  });

  it('that a report which did not pass is not to be approved, and that copying goes on', async () => {
    const run = runIn('verified');
    const failed = { ...run.evidence['verification-report'], facts: { isPassed: false } };
    const text = await textOf({
      ...run,
      evidence: { ...run.evidence, 'verification-report': failed as Reference },
    });
    expect(text).toContain('window    cannot be given: the verification-report did not pass\n');
    expect(text).not.toContain('-- approve');
    expect(text).toContain('\n  -> npm run migrate -- copy --run run-a --execute ');
  });

  it.each(IN_WINDOW)(
    'that the window has closed, and only the way back is left: %s',
    async (phase) => {
      const text = await textOf(runIn(phase, { deadlineAt: NOW }));
      expect(text).toContain(
        '\n  window     closed at 2026-03-01T09:30:00Z: the machine goes back unless users were let in\n',
      );
      expect(text.split('Next:\n')[1]).toBe(
        '  -> npm run migrate -- rollback --run run-a --execute   (an operator or the state machine)',
      );
      expect(text).not.toMatch(/Approvals|To be done/);
    },
  );

  it('that users were let in before the window closed, and a person may finish', async () => {
    const asks = { action: 'open-writes', collection: 'new', since: NOW, epoch: 9 } as const;
    const late = runIn('switching', { deadlineAt: NOW, openedAt: NOW - MINUTE, asks });
    expect((await textOf(late)).split('Next:\n')[1]?.split('\n')).toEqual([
      expect.stringContaining('     npm run migrate -- approve --run run-a --gate opened '),
      '     npm run migrate -- cutover --run run-a --execute   (an operator)',
      '  -> npm run migrate -- rollback --run run-a --execute   (an operator or the state machine)',
    ]);
  });

  it.each(['freezing', 'switching', 'returning', 'staying'] as const)(
    'nothing to approve of a run that is %s while a webhook is in charge',
    async (phase) => {
      const { asks: _, ...run } = runIn(phase);
      expect(await textOf(run)).not.toMatch(/approve|Approvals|To be done/);
    },
  );

  it('nothing more to be done once it was said to be done', async () => {
    const answer = { isOpen: true, ...seen, why: null };
    const text = await textOf(runIn('returning'), { answer });
    expect(text).toContain('deployed  given by ada');
    expect(text).not.toMatch(/To be done|-- approve/);
    expect(text).toContain('-> npm run migrate -- rollback');
  });

  it('each on its own line, whatever was recorded', async () => {
    const forged = 'ada\nRun run-b: live\u001b[2J\u202e';
    const answer = { isOpen: true, ...seen, approvedBy: forged, why: null };
    const text = await textOf(runIn('verified'), { answer });
    expect(text).toContain('given by ada\ufffdRun run-b: live\ufffd[2J\ufffd until');
  });

  it('one of anything in the singular', async () => {
    const text = await textOf(runIn('started', { plan: { ...PLAN, windowMinutes: 1 } }));
    expect(text).toContain('; a window of 1 minute; a way back for 30 days;');
  });

  it.each([
    [7 * DAY, 'until 2026-03-08T09:30:00Z, 7 days left: it ends soon'],
    [DAY / 2, 'until 2026-03-01T21:30:00Z, 1 day left: it ends soon'],
    [0, 'ended at 2026-03-01T09:30:00Z'],
  ])('how long the way back still is: %i ms', async (left, told) => {
    const text = await textOf(runIn('live', { retainUntil: NOW + left }));
    expect(text).toContain(`\n  way back   ${told}\n`);
  });

  it('what will be removed', async () => {
    const plan = { ...PLAN, removesWhenOver: true, removesArtifactsWhenOver: true };
    expect(await textOf(runIn('live', { plan }))).toContain(
      'the old collection and the backups removed after it',
    );
  });

  it('commands for the stage that it is of', async () => {
    const text = await textOf(runIn('started'), { stage: 'prod' });
    expect(text).toContain('npm run migrate -- preflight --run run-a --stage prod   (');
  });
});

describe('a duration', () => {
  it.each([
    [0, 'less than a minute'],
    [MINUTE, '1 minute'],
    [119 * MINUTE, '119 minutes'],
    [120 * MINUTE, '2 hours'],
    [47.9 * 60 * MINUTE, '47 hours'],
    [2 * DAY, '2 days'],
  ])('of %i ms', (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text);
  });
});
