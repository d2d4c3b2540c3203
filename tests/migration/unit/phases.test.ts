// The whole table of phases: every command in every phase is allowed, or refused with a name that says what to do.
import { describe, expect, it } from 'vitest';
import { MOVES } from '../../../lib/migration/moves.ts';
import {
  chooseMove,
  decideNext,
  findDueWork,
  hasReturned,
  isRepeated,
} from '../../../lib/migration/next.ts';
import {
  APPROVED_EVIDENCE,
  COMMANDS,
  ENDED_PHASES,
  EVIDENCE,
  type Evidence,
  PHASES,
  type Phase,
} from '../../../lib/migration/phases.ts';
import { isRefusal } from '../../../lib/migration/refusals.ts';
import type { Run } from '../../../lib/migration/runs/run.ts';

// A row lists, for one phase, the phase to which each command leads; `-`: the command is refused.
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

const [commands = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

const CASES = rows.flatMap(([phase = '', ...outcomes]) =>
  outcomes.map((outcome, column) => ({ phase, command: commands[column + 1], outcome })),
);

const allEvidence = createEvidence(EVIDENCE);

function createEvidence(kinds: readonly Evidence[]): Run['evidence'] {
  const reference = { artifact: 'a', digest: 'd', recordedAt: 0, facts: {} };
  return Object.fromEntries(kinds.map((kind) => [kind, reference]));
}

const NOW = new Date(1_000);
const byOperator = { isByPerson: true, now: NOW };
const byMachine = { isByPerson: false, now: NOW };

function tryCommand(command: (typeof COMMANDS)[number], phase: Phase): string {
  try {
    return chooseMove(command, { phase, evidence: allEvidence }, byOperator).to;
  } catch (error) {
    if (!isRefusal(error, 'RefusedNotNow')) throw error;
    return '-';
  }
}

describe('every command in every phase', () => {
  it('is listed in the table', () => {
    expect(commands.slice(1)).toEqual(COMMANDS);
    expect(rows.map(([phase]) => phase)).toEqual(PHASES);
    expect(CASES).toHaveLength(PHASES.length * COMMANDS.length);
  });

  it.each(PHASES)('has the outcome of the table in a run that is %s', (phase) => {
    const outcomes = COMMANDS.map((command) => [command, tryCommand(command, phase)]);
    const expected = CASES.filter((row) => row.phase === phase);
    expect(outcomes).toEqual(expected.map(({ command, outcome }) => [command, outcome]));
  });
});

describe('a move', () => {
  it.each(MOVES.filter(({ needs }) => needs.length > 0))(
    '$command from $from needs $needs',
    ({ command, from: [phase = 'checked'], needs }) => {
      for (const missing of needs) {
        const evidence = createEvidence(EVIDENCE.filter((kind) => kind !== missing));
        expect(() => chooseMove(command, { phase, evidence }, byOperator)).toThrow(
          expect.objectContaining({ name: 'RefusedNotNow' }),
        );
      }
    },
  );

  it("needs an operator if it opens a window, aborts a run or loses users' writes", () => {
    const operatorMoves = MOVES.filter(({ needsPerson }) => needsPerson);
    expect(operatorMoves.map(({ command, from }) => [command, from[0]])).toEqual([
      ['cutover', 'copied'],
      ['rollback', 'live'],
      ['abort', 'checked'],
    ]);
    for (const { command, from } of operatorMoves) {
      const run = { phase: from[0] ?? 'checked', evidence: allEvidence };
      expect(() => chooseMove(command, run, byMachine)).toThrow(
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
      const { command, moves } = decideNext({ phase, evidence: allEvidence }, NOW);
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
    const run = {
      phase: 'copied',
      evidence: allEvidence,
      takesNoWindow: 'writes were left behind',
    } as const;
    const { command, moves } = decideNext(run, NOW);
    expect([command, moves.map((move) => move.command)]).toEqual([null, ['abort']]);
    expect(() => chooseMove('cutover', run, byOperator)).toThrow(
      'No cutover: writes were left behind.',
    );
  });

  it('has a next command in every phase until it ends', () => {
    const stuck = PHASES.filter(
      (phase) => decideNext({ phase, evidence: allEvidence }, NOW).command === null,
    );
    expect(stuck.toSorted()).toEqual([...ENDED_PHASES].toSorted());
  });

  it('opens the window only for an operator, who approves a report of the run', () => {
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
  const run = { phase: 'copied', evidence: {} } as const;
  expect(() => chooseMove('rollback', run, byOperator)).toThrow('abort --execute');
});

it('an abort of a live run suggests the rollback instead', () => {
  const run = { phase: 'live', evidence: {} } as const;
  expect(() => chooseMove('abort', run, byOperator)).toThrow('rollback --execute');
});

describe('the next command', () => {
  const now = NOW.getTime();
  const failed = { name: 'RefusedNotFrozen', why: 'A write went through.', data: {} } as const;
  const noReturn = { ...failed, name: 'RefusedNothingToReturnTo' } as const;
  const expired = { deadlineAt: now };
  const open = { deadlineAt: now + 1 };
  const liveUntil = (retainUntil: number) => ({ window: { ...expired, retainUntil } });
  const byBoth = (command: string) => `${command} by operator, machine`;
  const byOperatorOnly = (command: string) => `${command} by operator`;
  const cutoverByBoth = byBoth('cutover');
  const rollbackByBoth = byBoth('rollback');
  const cutoverByOperator = byOperatorOnly('cutover');

  // A row lists a run, its next command, the commands that it accepts by actor, and whether the watch gives the next command.
  it.each([
    ['checked', {}, 'backup', [byBoth('backup'), byOperatorOnly('abort')], false],
    ['copied', {}, 'cutover', [byBoth('copy'), cutoverByOperator, byOperatorOnly('abort')], false],
    [
      'copied',
      { takesNoWindow: 'writes were left behind' },
      null,
      [byOperatorOnly('abort')],
      false,
    ],
    ['switching', { window: open }, 'cutover', [cutoverByBoth, rollbackByBoth], false],
    ['switching', { window: { ...open, failed } }, 'rollback', [rollbackByBoth], true],
    [
      'switching',
      { window: { ...open, failed }, refused: noReturn },
      'rollback',
      [cutoverByOperator, rollbackByBoth],
      true,
    ],
    [
      'switching',
      { window: { ...open, failed, openedAt: 1 } },
      'cutover',
      [cutoverByBoth, byOperatorOnly('rollback')],
      false,
    ],
    ['switching', { window: expired }, 'rollback', [rollbackByBoth], true],
    [
      'switching',
      { window: { ...expired, openedAt: 1 } },
      'rollback',
      [cutoverByOperator, rollbackByBoth],
      true,
    ],
    [
      'switching',
      { window: expired, refused: noReturn },
      'rollback',
      [cutoverByOperator, rollbackByBoth],
      true,
    ],
    [
      'switching',
      { window: { ...expired, openedAt: 1, stays: true } },
      'rollback',
      [cutoverByOperator, byOperatorOnly('rollback')],
      true,
    ],
    ['switching-back', { window: open }, 'rollback', [rollbackByBoth], false],
    ['switching-back', { window: expired }, 'rollback', [rollbackByBoth], true],
    [
      'live',
      liveUntil(now + 1),
      'retention',
      [byOperatorOnly('rollback'), byBoth('retention')],
      false,
    ],
    ['live', liveUntil(now), 'retention', [byBoth('retention')], true],
    ['switching-back', liveUntil(now), 'rollback', [rollbackByBoth], true],
    ['closed', liveUntil(now), null, [], false],
    ['aborted', {}, null, [], false],
  ] as const)('%s %j: %s', (phase, changes, command, accepted, isDue) => {
    const run = { phase, evidence: allEvidence, ...changes } as unknown as Run;
    const next = decideNext(run, NOW);
    expect(next).toMatchObject({ command, isDue });
    const moves = next.moves.map(({ command, needsPerson }) =>
      needsPerson ? byOperatorOnly(command) : byBoth(command),
    );
    expect(moves).toEqual(accepted);
  });

  const windowOf = (retainUntil: number, overAt?: number) => ({
    window: { ...expired, retainUntil, ...(overAt !== undefined && { overAt }) },
  });
  const nextWeek = now + 8 * 86_400_000;
  const tomorrow = now + 86_400_000;

  // A row lists a run, and what the watch does with it: before today's reminder, and after it.
  it.each([
    ['checked', {}, undefined, undefined],
    ['switching', { window: open }, undefined, undefined],
    ['switching', { window: expired }, 'rollback', 'rollback'],
    ['switching', { window: { ...open, failed } }, 'rollback', 'rollback'],
    ['switching', { window: { ...open, failed, openedAt: 1 } }, undefined, undefined],
    ['switching-back', { window: open }, undefined, undefined],
    ['switching-back', { window: expired }, 'rollback', 'rollback'],
    ['live', windowOf(nextWeek), undefined, undefined],
    ['live', windowOf(tomorrow), 'remind', undefined],
    ['live', windowOf(now), 'retention', 'retention'],
    ['live', windowOf(now, now), 'retention', undefined],
    ['live', { ...windowOf(now), takesNoWindow: 'it is damaged' }, undefined, undefined],
    ['closed', windowOf(now), undefined, undefined],
    ['aborted', {}, 'remove', undefined],
  ] as const)(
    '%s %j is due for %s, and after the reminder for %s',
    (phase, changes, due, reminded) => {
      const run = { phase, evidence: allEvidence, ...changes } as unknown as Run;
      const found = findDueWork(run, NOW);
      expect(found?.work).toBe(due);
      expect(found?.isDaily ? undefined : found?.work).toBe(reminded);
    },
  );

  it.each([
    ['switching', open, false],
    ['switching', { ...open, openedAt: 1 }, true],
    ['switching', { ...expired, openedAt: 1 }, false],
    ['live', { ...open, openedAt: 1 }, false],
  ] as const)('%s in the window %j repeats a failed step: %s', (phase, window, repeats) => {
    expect(isRepeated({ phase, window }, NOW)).toBe(repeats);
  });

  it.each([
    ['copied', EVIDENCE, false],
    ['copied', EVIDENCE.filter((kind) => kind !== APPROVED_EVIDENCE), true],
    ['rebuilt', [], false],
  ] as const)('%s with %j has returned: %s', (phase, kinds, expected) => {
    expect(hasReturned({ phase, evidence: createEvidence(kinds) })).toBe(expected);
  });

  it('cannot finish a window that failed, and its refusal says what failed', () => {
    const run = { phase: 'switching', evidence: allEvidence, window: { ...open, failed } } as const;
    expect(() => chooseMove('cutover', run, byOperator)).toThrow(
      'The window failed with RefusedNotFrozen: A write went through.',
    );
  });
});
