// Another step's turn is waited for as long as one that died holds its place, and that is said now and then.
import { describe, expect, it } from 'vitest';
import { RetryableFailure, type RetryableName } from '../../../../lib/migration/refusals.ts';
import { awaitTurn } from '../../../../local/migrate/await-turn.ts';

function createTime() {
  let now = 0;
  const sleep = async (milliseconds: number) => {
    now += milliseconds;
  };
  return { clocked: { now: () => now, random: () => 0.5, sleep }, passed: () => now };
}

/** A step that fails so often before it is done. */
function failing(times: number, name: RetryableName = 'RetryableStepRunning') {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries > times) return 'done';
    throw new RetryableFailure(name, 'Another step is at work.');
  };
}

describe('a turn', () => {
  it('is waited for through the two minutes of a step that died, a word being said', async () => {
    const { clocked, passed } = createTime();
    const told: string[] = [];
    expect(await awaitTurn(failing(25), (line) => told.push(line), clocked)).toBe('done');
    expect(passed()).toBe(125_000);
    expect(told).toHaveLength(5);
    expect(told[0]).toBe('waiting for its turn, up to 130 s: Another step is at work.');
  });

  it('that does not come is not waited for any longer', async () => {
    const { clocked, passed } = createTime();
    const turn = awaitTurn(failing(Number.POSITIVE_INFINITY), () => {}, clocked);
    await expect(turn).rejects.toThrow('Another step is at work.');
    expect(passed()).toBeLessThanOrEqual(130_000);
  });

  it('that fails otherwise is over at once', async () => {
    const { clocked, passed } = createTime();
    const turn = awaitTurn(failing(1, 'RetryableUnavailable'), () => {}, clocked);
    await expect(turn).rejects.toThrow(RetryableFailure);
    expect(passed()).toBe(0);
  });
});
