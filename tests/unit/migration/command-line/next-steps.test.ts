// The commands that status and the driver offer, the first of which continues the run.
import { describe, expect, it } from 'vitest';
import { movesFrom } from '../../../../lib/migration/moves.ts';
import type { Phase } from '../../../../lib/migration/phases.ts';
import { nextSteps } from '../../../../local/migrate/next-steps.ts';
import { STATUS } from '../../../support/migration/fake-place.ts';

type Status = Parameters<typeof nextSteps>[0];

const pendingAction = {
  ...{ action: 'freeze', collection: 'memories', since: null, confirmedBy: null },
} as unknown as Status['pendingAction'];
const retention = { until: '2026-04-01T00:00:00.000Z', daysLeft: 3, isOver: false, isEnding: true };

function offered(phase: Phase, changes: object): string[] {
  const status = { ...STATUS, phase, moves: movesFrom(phase), ...changes } as unknown as Status;
  return nextSteps(status).map(({ command }) => command.split(' ')[4] ?? '');
}

describe('the next step of a run', () => {
  it.each([
    ['that waits for a person', 'freezing', { pendingAction }, ['confirm', 'run', 'rollback']],
    ['that is live', 'live', { retention }, ['rollback']],
    ['past its rollback period', 'live', { retention: { ...retention, isOver: true } }, ['run']],
    [
      'of a rollback from live that waits for a person',
      ...(['rolling-back', { retention, pendingAction }, ['confirm', 'run', 'rollback']] as const),
    ],
    ['whose window is over', 'frozen', { isLate: true }, ['rollback']],
    ['that has ended', 'closed', { retention, moves: [] }, []],
  ] as const)('%s', (_, phase, changes, commands) => {
    expect(offered(phase, changes)).toEqual(commands);
  });
});
