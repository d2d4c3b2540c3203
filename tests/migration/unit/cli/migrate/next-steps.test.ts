// The commands that status and the driver offer; the first one continues the run.
import { describe, expect, it } from 'vitest';
import {
  createGuidance,
  formatGuidance,
  listNextSteps,
} from '../../../../../cli/migration/migrate/next-steps.ts';
import { decideNext } from '../../../../../lib/migration/next.ts';
import { EVIDENCE, type Phase } from '../../../../../lib/migration/phases.ts';
import { Refusal, type RefusalData } from '../../../../../lib/migration/refusals.ts';
import type { Run } from '../../../../../lib/migration/runs/run.ts';
import { STATUS } from '../../../support/fake-invoker.ts';

type Status = Parameters<typeof listNextSteps>[0];

const pendingAction = {
  action: 'freeze',
  collection: 'memories',
  since: null,
  confirmedBy: null,
} as unknown as Status['pendingAction'];
const retention = { until: '2026-04-01T00:00:00.000Z', daysLeft: 3, isOver: false, isEnding: true };

function createStatus(phase: Phase, changes: object): Status {
  const evidence = Object.fromEntries(EVIDENCE.map((kind) => [kind, {}])) as Run['evidence'];
  const window = { deadlineAt: Date.parse('2026-03-01T09:30:00Z') };
  const now = new Date(window.deadlineAt - ('isLate' in changes ? 0 : 1));
  const { command: next, moves } = decideNext({ phase, evidence, window, ...changes }, now);
  return { ...STATUS, phase, next, moves, ...changes } as unknown as Status;
}

function listCommands(phase: Phase, changes: object): string[] {
  return listNextSteps(createStatus(phase, changes)).map(
    ({ command }) => command.split(' ')[4] ?? '',
  );
}

describe('the next steps of a run', () => {
  it.each([
    ['that follows the runbook', 'backed-up', {}, ['run', 'copy', 'abort']],
    ['before the window', 'copied', {}, ['run', 'cutover', 'abort']],
    ['that waits for a person', 'switching', { pendingAction }, ['confirm', 'run', 'rollback']],
    ['that is live', 'live', { retention }, ['rollback']],
    ['past its rollback period', 'live', { retention: { ...retention, isOver: true } }, ['run']],
    [
      'of a rollback from live that waits for a person',
      ...([
        'switching-back',
        { retention, pendingAction },
        ['confirm', 'run', 'rollback'],
      ] as const),
    ],
    ['whose window is over', 'switching', { isLate: true }, ['rollback']],
    [
      'whose window is over while it waits for a person',
      ...(['switching', { isLate: true, pendingAction }, ['rollback', 'confirm']] as const),
    ],
    [
      'whose window is over and which has no version to return to',
      ...([
        'switching',
        { isLate: true, refused: { name: 'RefusedNothingToReturnTo' } },
        ['rollback', 'cutover'],
      ] as const),
    ],
    ['that has ended', 'closed', { retention, moves: [] }, []],
  ] as const)('%s', (_, phase, changes, commands) => {
    expect(listCommands(phase, changes)).toEqual(commands);
  });
});

it('after a rollback that would remove too much, three commands are offered', () => {
  const commandsAfter = (data: RefusalData) => {
    const refusal = new Refusal('RefusedMassChange', 'It would remove too much.', { data });
    const { next } = createGuidance(createStatus('live', { retention }), undefined, refusal);
    return next.map(({ command }) => command.replace('npm run migrate -- rollback --execute', ''));
  };
  const expected = [' --run run-a', ' --deletes 300 --run run-a', ' --as-it-was --run run-a'];
  expect(commandsAfter({ deletes: 300 })).toEqual(expected);
  expect(commandsAfter({})).toEqual([expected[0], expected[2]]);
});

it('after a copy that would remove too much, a repair or the number of deletions is offered', () => {
  const refusal = new Refusal('RefusedMassChange', 'It would remove too much.', {
    data: { deletes: 300 },
  });
  const { next } = createGuidance(createStatus('rebuilt', {}), undefined, refusal);
  expect(next).toMatchObject([
    { command: 'npm run migrate -- run --run run-a', first: 'repair the active collection' },
    { command: 'npm run migrate -- run --deletes 300 --run run-a' },
    { command: 'npm run migrate -- copy --execute --run run-a', why: 'this step alone' },
    { command: 'npm run migrate -- abort --execute --run run-a' },
  ]);
});

describe('a refusal of another run offers a repair or the number of deletions', () => {
  it.each([
    ['if the current run is live', 'live', { retention }],
    [
      'if the current run is past its rollback period',
      ...(['live', { retention: { ...retention, isOver: true } }] as const),
    ],
    ['if the current run is aborted', 'aborted', { moves: [] }],
  ] as const)('%s', (_, phase, changes) => {
    const data = { deletes: 40, run: 'run-z' };
    const refusal = new Refusal('RefusedEmptied', 'It lacks too much.', { data });
    // The watch works on all runs, so the refusal may concern another run than the command does.
    const status = createStatus(phase, changes);
    const { next } = createGuidance(status, 'dev', refusal);
    const run = 'npm run migrate -- run --run run-z --stage dev';
    expect(next).toMatchObject([
      { command: run, first: 'repair the active collection' },
      { command: 'npm run migrate -- run --deletes 40 --run run-z --stage dev' },
    ]);
  });
});

describe('the last line of a refused command', () => {
  const ROLLBACK = 'npm run migrate -- rollback --execute';

  it.each([
    [
      ...(['RefusedLossNotAcknowledged', { loss: 12 }] as const),
      ...([
        'live',
        `Next: ${ROLLBACK} --to-snapshot --acknowledged-loss 12 --run run-a   (return to`,
      ] as const),
    ],
    [
      ...(['RefusedPrerequisites', { finding: 'empty-keywords' }, 'rebuilt'] as const),
      'Next: solve the named problem, or accept it with --accept empty-keywords; to continue with copy: npm run migrate -- run --run run-a',
    ],
    [
      ...(['RefusedNothingToReturnTo', {}, 'live'] as const),
      `Next: restore memories as docs/migration/guide.md shows under RefusedNothingToReturnTo; to return to the old version: ${ROLLBACK} --run run-a`,
    ],
    [
      ...(['RefusedOtherRun', { otherRun: 'second' }, 'live'] as const),
      `Next: finish the other run, or abandon it with "npm run migrate -- abort --execute --run second"; to return to the old version: ${ROLLBACK} --run run-a`,
    ],
    [
      ...(['RefusedSettingChanged', {}, 'live'] as const),
      `Next: nothing is due until 2026-04-01T00:00:00.000Z; to return to the old version: ${ROLLBACK} --run run-a`,
    ],
  ] as const)('names the remedy after %s', (name, data, phase, line) => {
    const status = createStatus(phase, { retention: phase === 'live' ? retention : null });
    const text = formatGuidance(
      createGuidance(status, undefined, new Refusal(name, 'No.', { data })),
    );
    expect(text).toMatch(/^Users are on the (old|new) version/);
    expect(text).toContain(` ${line}`);
  });
});
