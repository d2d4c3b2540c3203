// Numbers, times and lines in the form that people read
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createOutput } from '../../../../../cli/migration/migrate/output.ts';
import { formatPlan } from '../../../../../cli/migration/migrate/plan-text.ts';
import { formatStatus } from '../../../../../cli/migration/migrate/status-text.ts';
import {
  formatCount,
  formatDuration,
  formatFacts,
  formatProgress,
  formatTime,
} from '../../../../../cli/migration/migrate/text.ts';
import type { Status } from '../../../../../lib/migration/steps/status.ts';
import { STATUS } from '../../../support/fake-invoker.ts';

describe('formatted text', () => {
  it.each([
    [formatDuration(999), 'less than 1s'],
    [formatDuration(59_400), '59s'],
    [formatDuration(61_000), '1m 1s'],
    [formatDuration(26 * 3_600_000 + 61_000), '1d 2h'],
    [formatCount(1, 'day'), '1 day'],
    [formatCount(30_000, 'memory'), '30,000 memories'],
    [formatCount(2, 'day'), '2 days'],
    [formatTime('2026-03-01T09:30:00.123Z'), '2026-03-01 09:30:00 UTC'],
    [formatProgress('copy', { done: 0, total: 0 }), '0/0 0%'],
    [formatProgress('copy', { done: 5, total: 200 }), '5/200 2%'],
    [
      formatProgress('copy', { done: 200, total: 200, perSecond: 9 }),
      '200/200 100% 9/s; now comparing both collections, then writing the report',
    ],
    [
      formatProgress('copy', { done: 210, total: 200, perSecond: 9 }),
      '210/200 100% 9/s; now comparing both collections, then writing the report',
    ],
    [formatProgress('cutover', { done: 12e5, total: 4e9, unit: 'bytes' }), '1.2 MB/4 GB 0%'],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected);
  });
});

it('facts are lines of plain words', () => {
  const largest = [
    { user: 'user-1', points: 1_200 },
    { user: 'user-2', points: 7 },
  ];
  expect(formatFacts({ withoutUser: 30_000, keywords: true, removes: [], largest })).toEqual([
    'without user: 30,000',
    'keywords: yes',
    'removes: nothing',
    'largest: user user-1, points 1,200; user user-2, points 7',
  ]);
});

describe('the status page', () => {
  const digest = '0123456789abcdef'.repeat(4);
  const invoker = { stage: undefined, where: 'table runs at here' };
  const page = (changes: object) =>
    formatStatus({ ...STATUS, ...changes } as unknown as Status, invoker);
  const returnedTo = (collection: string) => ({
    kind: 'rollback-report',
    artifact: 'b.json',
    digest,
    recordedAt: STATUS.at,
    facts: { returnedTo: collection },
  });
  const retention = { until: '2026-03-31T09:30:00Z', daysLeft: 30, isOver: false, isEnding: false };

  it.each([
    ['the table', {}, 'table runs at here'],
    ['which version users are on', {}, 'Users are on the old version, collection memories.'],
    [
      'where users are after a return to the restored snapshot',
      { evidence: [returnedTo('memories_restored_run-a')] },
      'collection memories_restored_run-a. Another run needs --source memories_restored_run-a.',
    ],
    [
      'that users are on the new version',
      { phase: 'live', retention },
      'Users are on the new version, collection memories_v3_run-a.',
    ],
    ['which user the key must belong to', {}, 'MEMORY_BACKEND_KEY must belong to this user'],
    [
      'how long writes stay frozen in a rollback',
      { phase: 'switching-back', deadlineAt: '2026-03-01T09:29:00Z' },
      'without a deadline',
    ],
    [
      'since when no user can write',
      { phase: 'switching', frozenSince: '2026-03-01T09:17:30Z' },
      'Users cannot write. The first write was refused at 2026-03-01T09:17:30Z, 12m 30s ago.',
    ],
    [
      'that nothing proves yet that users cannot write',
      { phase: 'switching' },
      'Users may be unable to write. No refused write has proved that yet.',
    ],
    [
      'that users may write again once a cutover has begun to open writes',
      { phase: 'switching', openedAt: '2026-03-01T09:29:00Z' },
      'Users may be unable to write.',
    ],
    ['the window', { deadlineAt: '2026-03-01T09:48:00Z' }, '18m left'],
    ['a window that has closed', { deadlineAt: '2026-03-01T09:29:00Z' }, 'is rolled back'],
    ['until when rollback is possible', { retention }, '30 days left'],
    [
      'that the rollback period is over',
      { retention: { ...retention, isOver: true } },
      'no longer possible',
    ],
    [
      'evidence by its digest',
      {
        evidence: [
          { kind: 'verification-report', artifact: 'a.json', digest, recordedAt: STATUS.at },
        ],
      },
      'digest 0123456789ab',
    ],
    [
      'the progress',
      { progress: { step: 'copy', done: 1, total: 4, savedAt: STATUS.at } },
      '1/4 25%',
    ],
    [
      'since when a step holds the lock, and until when',
      { lock: { since: '2026-03-01T09:28:00Z', until: '2026-03-01T09:31:30Z' } },
      'held by a step since 2026-03-01T09:28:00Z, 2m ago; if the step crashed, the lock expires at 2026-03-01T09:31:30Z',
    ],
    ['the report to approve', { approval: { evidence: 'r', digest } }, 'digest 0123456789ab'],
    ['that nothing is left to do', { moves: [] }, 'nothing, the run has ended'],
    [
      'what a person has to do',
      {
        pendingAction: { action: 'freeze', collection: 'memories', since: null, confirmedBy: null },
      },
      'Stop all writes to memories',
    ],
  ])('shows %s', (_, changes, part) => {
    expect(page(changes)).toContain(part);
  });

  it.each(['deploy-new', 'deploy-old'])('shows that %s leaves writes frozen', (action) => {
    const pendingAction = { action, collection: 'memories', since: null, confirmedBy: null };
    expect(page({ pendingAction })).toContain('Writes stay frozen until "open-writes"');
  });

  const renderRolledBack = (facts: object, changes: object = {}) =>
    page({
      phase: 'copied',
      moves: [],
      ...changes,
      evidence: [
        { kind: 'rollback-report', artifact: 'r.json', digest, recordedAt: STATUS.at, facts },
      ],
    });

  it('shows what a rollback left behind, and where', () => {
    const until = '2026-04-01T00:00:00.000Z';
    const lines = renderRolledBack(
      { leftBehind: 3 },
      {
        served: [{ collection: 'memories_v3_run-a', until }],
        takesNoWindow: 'memories_v3_run-a has writes that were left behind',
      },
    ).split('\n');
    expect(lines).toContain('Left behind: 3 writes.');
    expect(lines).toContain(
      `Collection memories_v3_run-a is kept until ${until}, as users left it.`,
    );
    expect(lines).toContain('Cutover blocked: memories_v3_run-a has writes that were left behind.');
    expect(renderRolledBack({ leftBehind: 'unknown' })).toContain('Left behind: unknown');
    expect(renderRolledBack({ leftBehind: 0, lacking: 500 })).toContain(
      'Not counted: 500 old memories missing from the new collection.',
    );
  });

  it('shows that a rollback left nothing behind, and what to compare', () => {
    expect(renderRolledBack({ leftBehind: 0 })).toContain('Left behind: no writes.');
    expect(renderRolledBack({ leftBehind: 0, comparedByHand: 'memories_v3_run-a' })).toContain(
      'Collection memories_v3_run-a has writes that were not carried over: compare it by hand.',
    );
    expect(page({ kept: ['memories'] })).toContain(
      'Collection memories is kept, as it alone may hold some memories: compare it by hand.',
    );
    expect(renderRolledBack({ leftBehind: 0, oldVersion: 'unproved' })).toContain(
      'The backend did not say whether it runs the old version: check it.',
    );
    expect(page({})).not.toContain('Left behind');
  });

  it('begins the next steps with the command that continues the run', () => {
    expect(page({}).split('\n').at(-3)).toMatch(/^Next: npm run migrate -- run --run run-a/);
    expect(
      page({ isLate: true, moves: [{ command: 'rollback' }] })
        .split('\n')
        .at(-1),
    ).toMatch(/^Next: npm run migrate -- rollback --execute --run run-a/);
  });
});

describe('the plan', () => {
  it.each([
    [[], 'a graph dump'],
    [['no-graph'], 'a graph dump if there is a graph'],
  ])('that accepts %j names the artifacts, and what no backup contains', (accepts, dump) => {
    const plan = { ...STATUS.plan, accepts } as unknown as Status['plan'];
    expect(formatPlan(plan)[0]).toMatch(
      new RegExp(`as artifacts a snapshot, reports and ${dump}$`),
    );
    expect(formatPlan(plan)).toContainEqual(expect.stringMatching(/Omits .*history\.db/));
  });
});

describe('an output', () => {
  function capturePrinted(isTTY: boolean, isJson = false) {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 });
    const chunks: string[] = [];
    stream.on('data', (chunk) => chunks.push(String(chunk)));
    const printed = stream as unknown as NodeJS.WriteStream;
    const streams = {
      input: stream as unknown as NodeJS.ReadStream,
      output: printed,
      status: printed,
    };
    return { output: createOutput(streams, isJson), text: () => chunks.join('') };
  }

  it('shows people times in a readable form', () => {
    const { output, text } = capturePrinted(false);
    output.note('The window closed at 2026-03-01T09:30:00.123Z.');
    expect(text()).toBe('The window closed at 2026-03-01 09:30:00 UTC.\n');
  });

  it('shows log entries of functions as words to people, and as an object to programs', () => {
    const entry = {
      level: 'WARN',
      message: 'The step continues',
      runId: 'run-a',
      lookAt: 'the store',
    } as const;
    const people = capturePrinted(false);
    people.output.log(entry);
    expect(people.text()).toBe('The step continues; run id: run-a; look at: the store\n');
    const machines = capturePrinted(false, true);
    machines.output.log(entry);
    expect(JSON.parse(machines.text())).toEqual(entry);
  });

  it('is coloured and overwritten only at a terminal', () => {
    const { output, text } = capturePrinted(false);
    output.show('Copy: 1/4 25%');
    output.line(`${output.mark('done')} Copy`, { event: 'step' });
    expect(text()).toBe('✓ Copy\n');
  });

  it('prints no control characters from recorded text', () => {
    const { output, text } = capturePrinted(true);
    output.line('by ada\u001b[2J\u202e', { event: 'status' });
    expect(text()).toBe('by ada\ufffd[2J\ufffd\n');
  });
});
