// The whole table of phases: every command in every phase is allowed, or refused with a name that says what to do.
import { describe, expect, it } from 'vitest';
import { MOVES } from '../../../lib/migration/moves.ts';
import { decideNext, moveFor } from '../../../lib/migration/next.ts';
import {
  APPROVED_EVIDENCE,
  COMMANDS,
  ENDED,
  EVIDENCE,
  type Evidence,
  PHASES,
  type Phase,
} from '../../../lib/migration/phases.ts';
import { isRefusal } from '../../../lib/migration/refusals.ts';
import type { Run } from '../../../lib/migration/runs/run.ts';

// Read a row as: in this phase, each command leads to the phase named, or is refused (-).
const TABLE = `
phase          backup    rebuild copy   cutover rollback abort   retention
checked        backed-up -       -      -       -        aborted -
backed-up      backed-up rebuilt -      -       -        aborted -
rebuilt        -         rebuilt copied -       -        aborted -
copied         -         -       copied live    -        aborted -
switching      -         -       -      live    copied   -       -
live           -         -       -      -       copied   -       closed
switching-back -         -       -      -       copied   -       -
closed         -         -       -      -       -        -       -
aborted        -         -       -      -       -        -       -
`;

const [heads = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

const CASES = rows.flatMap(([phase = '', ...outcomes]) =>
  outcomes.map((outcome, column) => ({ phase, command: heads[column + 1], outcome })),
);

const everything = createEvidence(EVIDENCE);

function createEvidence(kinds: readonly Evidence[]): Run['evidence'] {
  const reference = { artifact: 'a', digest: 'd', recordedAt: 0, facts: {} };
  return Object.fromEntries(kinds.map((kind) => [kind, reference]));
}

const NOW = new Date(1_000);
const wanted = { isWanted: true, now: NOW };
const unasked = { isWanted: false, now: NOW };

function tryCommand(command: (typeof COMMANDS)[number], phase: Phase): string {
  try {
    return moveFor(command, { phase, evidence: everything }, wanted).to;
  } catch (error) {
    if (!isRefusal(error, 'RefusedNotNow')) throw error;
    return '-';
  }
}

describe('every command in every phase', () => {
  it('is listed in the table', () => {
    expect(heads.slice(1)).toEqual(COMMANDS);
    expect(rows.map(([phase]) => phase)).toEqual(PHASES);
    expect(CASES).toHaveLength(PHASES.length * COMMANDS.length);
  });

  it.each(PHASES)('given to a run that is %s', (phase) => {
    const outcomes = COMMANDS.map((command) => [command, tryCommand(command, phase)]);
    const expected = CASES.filter((row) => row.phase === phase);
    expect(outcomes).toEqual(expected.map(({ command, outcome }) => [command, outcome]));
  });
});

describe('a move', () => {
  it.each(MOVES.filter(({ needs }) => needs.length > 0))(
    '$command from $from asks for $needs',
    ({ command, from: [phase = 'checked'], needs }) => {
      for (const missing of needs) {
        const evidence = createEvidence(EVIDENCE.filter((kind) => kind !== missing));
        expect(() => moveFor(command, { phase, evidence }, wanted)).toThrow(
          expect.objectContaining({ name: 'RefusedNotNow' }),
        );
      }
    },
  );

  it("is never made unasked if it opens a window, aborts a run or loses users' writes", () => {
    const forbidden = MOVES.filter(({ needsPerson }) => needsPerson);
    expect(forbidden.map(({ command, from }) => [command, from[0]])).toEqual([
      ['cutover', 'copied'],
      ['rollback', 'live'],
      ['abort', 'checked'],
    ]);
    for (const { command, from } of forbidden) {
      const standing = { phase: from[0] ?? 'checked', evidence: everything };
      expect(() => moveFor(command, standing, unasked)).toThrow(
        expect.objectContaining({ name: 'RefusedNotNow' }),
      );
    }
  });

  it('needs only evidence that an earlier move provides', () => {
    for (const { from, needs } of MOVES) {
      const earlier = MOVES.filter(({ from: [first = 'checked'] }) =>
        from.every((phase) => PHASES.indexOf(first) < PHASES.indexOf(phase)),
      );
      // A run begins with its preflight.
      const yielded = ['preflight-report', ...earlier.map((move) => move.yields)];
      expect(yielded).toEqual(expect.arrayContaining([...needs]));
    }
  });
});

describe('a run', () => {
  it('follows the runbook if each step is the suggested one', () => {
    const path: Phase[] = ['checked'];
    const moveFrom = (phase: Phase) => {
      const { command, moves } = decideNext({ phase, evidence: everything }, NOW);
      return moves.find((move) => move.command === command);
    };
    for (let next = moveFrom('checked'); next; next = moveFrom(next.to)) path.push(next.to);
    expect(path).toEqual(['checked', 'backed-up', 'rebuilt', 'copied', 'live', 'closed']);
  });

  it('copies what has changed before it opens another window', () => {
    const evidence = createEvidence(EVIDENCE.filter((kind) => kind !== 'verification-report'));
    expect(decideNext({ phase: 'copied', evidence }, NOW).command).toBe('copy');
  });

  it('can only be aborted if it allows no further window', () => {
    const standing = {
      phase: 'copied',
      evidence: everything,
      takesNoWindow: 'users left',
    } as const;
    const { command, moves } = decideNext(standing, NOW);
    expect([command, moves.map((move) => move.command)]).toEqual([null, ['abort']]);
    expect(() => moveFor('cutover', standing, wanted)).toThrow('No cutover: users left.');
  });

  it('can leave every phase in which it has not ended', () => {
    const stuck = PHASES.filter(
      (phase) => decideNext({ phase, evidence: everything }, NOW).command === null,
    );
    expect(stuck.toSorted()).toEqual([...ENDED].toSorted());
  });

  it('opens the window only for an operator, who approves a report that the run holds', () => {
    const opening = MOVES.filter(({ approves }) => approves !== undefined);
    expect(opening).toEqual([
      expect.objectContaining({
        from: ['copied'],
        needsPerson: true,
        approves: APPROVED_EVIDENCE,
      }),
    ]);
    expect(opening[0]?.needs).toContain(APPROVED_EVIDENCE);
  });
});

it('a rollback of a run without a window suggests the abort instead', () => {
  const standing = { phase: 'copied', evidence: {} } as const;
  expect(() => moveFor('rollback', standing, wanted)).toThrow('abort --execute');
});

it('an abort of a live run suggests the rollback instead', () => {
  const standing = { phase: 'live', evidence: {} } as const;
  expect(() => moveFor('abort', standing, wanted)).toThrow('rollback --execute');
});

describe('what comes next', () => {
  const now = NOW.getTime();
  const failed = { name: 'RefusedNotFrozen', why: 'A write went through.', data: {} } as const;
  const nothing = { ...failed, name: 'RefusedNothingToReturnTo' } as const;
  const late = { deadlineAt: now };
  const open = { deadlineAt: now + 1 };
  const isLive = (retainUntil: number) => ({ window: { ...late, retainUntil } });
  const byBoth = (command: string) => `${command} by operator, machine`;
  const byOne = (command: string) => `${command} by operator`;
  const goOn = byBoth('cutover');
  const goBack = byBoth('rollback');
  const finish = byOne('cutover');

  // Read a row as: a run like this needs this command, accepts those by the actors named, and the watch gives the first.
  it.each([
    ['checked', {}, 'backup', [byBoth('backup'), byOne('abort')], false],
    ['copied', {}, 'cutover', [byBoth('copy'), finish, byOne('abort')], false],
    ['copied', { takesNoWindow: 'users are elsewhere' }, null, [byOne('abort')], false],
    ['switching', { window: open }, 'cutover', [goOn, goBack], false],
    ['switching', { window: { ...open, failed } }, 'rollback', [goBack], true],
    [
      'switching',
      { window: { ...open, failed }, refused: nothing },
      'rollback',
      [finish, goBack],
      true,
    ],
    [
      'switching',
      { window: { ...open, failed, openedAt: 1 } },
      'cutover',
      [goOn, byOne('rollback')],
      false,
    ],
    ['switching', { window: late }, 'rollback', [goBack], true],
    ['switching', { window: { ...late, openedAt: 1 } }, 'rollback', [finish, goBack], true],
    ['switching', { window: late, refused: nothing }, 'rollback', [finish, goBack], true],
    [
      'switching',
      { window: { ...late, openedAt: 1, stays: true } },
      'rollback',
      [finish, byOne('rollback')],
      true,
    ],
    ['switching-back', { window: open }, 'rollback', [goBack], false],
    ['switching-back', { window: late }, 'rollback', [goBack], true],
    ['live', isLive(now + 1), 'retention', [byOne('rollback'), byBoth('retention')], false],
    ['live', isLive(now), 'retention', [byBoth('retention')], true],
    ['switching-back', isLive(now), 'rollback', [goBack], true],
    ['closed', isLive(now), null, [], false],
    ['aborted', {}, null, [], false],
  ] as const)('%s %j: %s', (phase, changes, command, accepted, isDue) => {
    const run = { phase, evidence: everything, ...changes } as unknown as Run;
    const next = decideNext(run, NOW);
    expect(next).toMatchObject({ command, isDue });
    const moves = next.moves.map(({ command, needsPerson }) =>
      needsPerson ? byOne(command) : byBoth(command),
    );
    expect(moves).toEqual(accepted);
  });

  it('a window that failed is finished by no command, and its refusal says what failed', () => {
    const run = { phase: 'switching', evidence: everything, window: { ...open, failed } } as const;
    expect(() => moveFor('cutover', run, wanted)).toThrow(
      'The window failed with RefusedNotFrozen: A write went through.',
    );
  });
});
