// An act of a rehearsal that cannot continue is reported and counts as a failure; the next acts are still played.
import { expect, it } from 'vitest';
import { createDiary } from '../../../../../sandbox/rehearsal/diary.ts';
import { playToEnding } from '../../../../../sandbox/rehearsal/ending.ts';
import type { Rehearsal } from '../../../../../sandbox/rehearsal/rehearsal.ts';

const STUCK = new Error('No rollback in a run that is copied.\nat some line');

it('an act that completes has the ending that it returns', async () => {
  const { rehearsal, diary } = createRehearsal('live');
  const ending = { phase: 'copied', acknowledgedLoss: 2 } as const;
  expect(await playToEnding({ play: async () => ending }, rehearsal)).toEqual(ending);
  expect(diary.surprises).toEqual([]);
});

it('an act that cannot continue ends in the phase of the run, and counts as a surprise', async () => {
  const { rehearsal, diary } = createRehearsal('copied');
  expect(await playToEnding({ play: () => Promise.reject(STUCK) }, rehearsal)).toEqual({
    phase: 'copied',
  });
  expect(diary.surprises).toEqual([
    'the act continues after: No rollback in a run that is copied.',
  ]);
});

it('an act without a run fails with its own error', async () => {
  const { rehearsal } = createRehearsal(undefined);
  await expect(playToEnding({ play: () => Promise.reject(STUCK) }, rehearsal)).rejects.toBe(STUCK);
});

function createRehearsal(phase: string | undefined) {
  const diary = createDiary(() => 0);
  const run = async () => {
    if (phase === undefined) throw new Error('There is no run.');
    return { phase };
  };
  return { diary, rehearsal: { ...diary, run } as unknown as Rehearsal };
}
