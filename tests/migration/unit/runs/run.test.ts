// Parts of a run's record that survive a change of phase
import { expect, it } from 'vitest';
import type { Phase } from '../../../../lib/migration/phases.ts';
import { enterPhase, type Run } from '../../../../lib/migration/runs/run.ts';

it.each<[Phase, Phase, boolean]>([
  ['switching', 'switching-back', true],
  ['switching-back', 'copied', true],
  ['live', 'switching-back', false],
  ['switching', 'live', false],
  ['copied', 'switching', false],
])('a run that goes from %s to %s records why it rolls back: %s', (phase, next, isKept) => {
  const refused = { name: 'RefusedByService', why: 'The webhook answered 400.', data: {} };
  const run = { phase, refused, history: [], evidence: {} } as unknown as Run;
  expect(enterPhase(run, next, new Date(0)).refused).toEqual(isKept ? refused : undefined);
});

it('a run that returns to the phase copied keeps nothing of its window', () => {
  const window = { deadlineAt: 1, approvedBy: 'ada' };
  const run = { phase: 'switching-back', window, history: [], evidence: {} } as unknown as Run;
  expect(enterPhase(run, 'copied', new Date(0))).not.toHaveProperty('window');
});
