// The whole table of the machine: every command in every phase, allowed or refused by a name that says what to do.
import { describe, expect, it } from 'vitest';
import { MOVES } from '../../../lib/migration/moves.ts';
import { moveFor, nextMove } from '../../../lib/migration/next-step.ts';
import {
  APPROVED_EVIDENCE,
  COMMANDS,
  DEEDS,
  ENDED,
  EVIDENCE,
  GATE_OF,
  GATES,
  PHASES,
  type Phase,
} from '../../../lib/migration/phases.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';

// Read a row as: given this phase, each command leads to the phase named, or is refused for being
// -early, -late, -ended, -unknown, -exists, -irreversible, -nothing (to return from) -open (window) or
// -notreturning (so that there is nothing to stay from).
const TABLE = `
phase        start    preflight backup     rebuild  copy       verify   freeze   cutover  rollback      stay           abandon    retention
absent       started  -unknown  -unknown   -unknown -unknown   -unknown -unknown -unknown -unknown      -unknown       -unknown   -unknown
started      -exists  checked   -early     -early   -early     -early   -early   -early   -nothing      -notreturning  abandoned  -early
checked      -exists  checked   backed-up  -early   -early     -early   -early   -early   -nothing      -notreturning  abandoned  -early
backed-up    -exists  -late     backed-up  rebuilt  -early     -early   -early   -early   -nothing      -notreturning  abandoned  -early
rebuilt      -exists  -late     -early     rebuilt  copied     -early   -early   -early   -nothing      -notreturning  abandoned  -early
copied       -exists  -late     -early     -late    copied     verified -early   -early   -nothing      -notreturning  abandoned  -early
verified     -exists  -late     -early     -late    copied     verified frozen   -early   -nothing      -notreturning  abandoned  -early
freezing     -exists  -late     -early     -late    -early     -early   frozen   -early   returned      -notreturning  -open      -early
frozen       -exists  -late     secured    -late    -early     -early   -late    -early   returned      -notreturning  -open      -early
secured      -exists  -late     secured    -late    caught-up  -early   -late    -early   returned      -notreturning  -open      -early
caught-up    -exists  -late     secured    -late    caught-up  proved   -late    -early   returned      -notreturning  -open      -early
proved       -exists  -late     secured    -late    caught-up  proved   -late    live     returned      -notreturning  -open      -early
switching    -exists  -late     -late      -late    -late      -late    -late    live     returned      -notreturning  -open      -early
live         -exists  -late     -late      -late    -late      -late    -late    -late    returned      -notreturning  -late      irreversible
irreversible -exists  -late     -late      -late    -late      -late    -late    -late    -irreversible -notreturning  -late      closed
closed       -exists  -ended    -ended     -ended   -ended     -ended   -ended   -ended   -irreversible -ended         -ended     -ended
returning    -exists  -late     -late      -late    -late      -late    -late    -late    returned      live           -late      -late
staying      -exists  -late     -late      -late    -late      -late    -late    -late    returned      live           -late      -late
returned     -exists  -ended    -ended     -ended   -ended     -ended   -ended   -ended   -ended        -ended         -ended     -ended
abandoned    -exists  -ended    -ended     -ended   -ended     -ended   -ended   -ended   -ended        -ended         -ended     -ended
`;

const REFUSED_FOR: Readonly<Record<string, string>> = {
  '-early': 'RefusedTooEarly',
  '-late': 'RefusedTooLate',
  '-ended': 'RefusedRunEnded',
  '-unknown': 'RefusedUnknownRun',
  '-exists': 'RefusedRunExists',
  '-irreversible': 'RefusedIrreversible',
  '-nothing': 'RefusedNothingToReturn',
  '-open': 'RefusedWindowOpen',
  '-notreturning': 'RefusedNotReturning',
};

const [heads = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

const CASES = rows.flatMap(([phase = '', ...outcomes]) =>
  outcomes.map((outcome, column) => ({ phase, command: heads[column + 1], outcome })),
);

const everything = new Set(EVIDENCE);

function outcomeOf(command: (typeof COMMANDS)[number], phase: Phase): string {
  try {
    return moveFor(command, { phase, evidence: everything }, 'operator').to;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.name;
  }
}

describe('every command in every phase', () => {
  it('is in the table', () => {
    expect(heads.slice(1)).toEqual(COMMANDS);
    expect(rows.map(([phase]) => phase)).toEqual(PHASES);
    expect(CASES).toHaveLength(PHASES.length * COMMANDS.length);
  });

  it.each(PHASES)('given to a run that is %s', (phase) => {
    const outcomes = COMMANDS.map((command) => [command, outcomeOf(command, phase)]);
    const expected = CASES.filter((row) => row.phase === phase);
    expect(outcomes).toEqual(
      expected.map(({ command, outcome }) => [command, REFUSED_FOR[outcome] ?? outcome]),
    );
  });
});

describe('a move', () => {
  it.each(MOVES.filter(({ needs }) => needs.length > 0))(
    '$command from $from asks for $needs',
    ({ command, from: [phase = 'absent'], needs }) => {
      for (const missing of needs) {
        const evidence = new Set(EVIDENCE.filter((evidence) => evidence !== missing));
        expect(() => moveFor(command, { phase, evidence }, 'operator')).toThrow(
          expect.objectContaining({ name: 'RefusedMissingEvidence' }),
        );
      }
    },
  );

  it('is never made by the machine where a run begins, is given up, or users lose writes', () => {
    const forbidden = MOVES.filter(({ by }) => !by.includes('machine'));
    expect(forbidden.map(({ command, from }) => [command, from[0]])).toEqual([
      ['start', 'absent'],
      ['rollback', 'live'],
      ['stay', 'returning'],
      ['abandon', 'started'],
    ]);
    for (const { command, from } of forbidden) {
      const standing = { phase: from[0] ?? 'absent', evidence: everything };
      expect(() => moveFor(command, standing, 'machine')).toThrow(
        expect.objectContaining({ name: 'RefusedActor' }),
      );
    }
  });

  it('needs only evidence that an earlier one yields', () => {
    for (const { from, needs } of MOVES) {
      const earlier = MOVES.filter(({ from: [first = 'absent'] }) =>
        from.every((phase) => PHASES.indexOf(first) < PHASES.indexOf(phase)),
      );
      const yielded = earlier.map((move) => move.yields);
      expect(yielded).toEqual(expect.arrayContaining([...needs]));
    }
  });
});

describe('a run', () => {
  it('follows the runbook when each step is the next one', () => {
    const path: Phase[] = ['absent'];
    for (let next = nextMove('absent'); next; next = nextMove(next.to)) path.push(next.to);
    expect(path).toEqual(
      PHASES.slice(0, PHASES.indexOf('returning')).filter(
        (phase) => phase !== 'freezing' && phase !== 'switching',
      ),
    );
  });

  it('can get out of every phase it has not ended in', () => {
    const stuck = PHASES.filter((phase) => !nextMove(phase));
    expect(stuck.toSorted()).toEqual([...ENDED].toSorted());
  });

  it('asks a person at every gate, about evidence it holds from the first of them on', () => {
    const asked = [...MOVES.map(({ gate }) => gate), ...DEEDS.map((deed) => GATE_OF[deed])];
    expect(asked).toEqual(expect.arrayContaining([...GATES]));
    const opens = MOVES.find(({ gate }) => gate === 'window');
    expect(opens?.needs).toContain(APPROVED_EVIDENCE);
  });
});
