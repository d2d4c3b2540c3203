// The speed of a step is measured from its progress within one invocation, never from time spent on other work. The rollback
// period does not begin again once it has ended.
import { describe, expect, it } from 'vitest';
import { createSpeedMeter, retentionOf } from '../../../../lib/migration/runs/times.ts';

function createClock() {
  let now = 1_000_000;
  return {
    clock: () => new Date(now),
    advance: (seconds: number) => {
      now += seconds * 1_000;
    },
  };
}

describe('the rate of a step', () => {
  it('is measured since it first reported progress', () => {
    const { clock, advance } = createClock();
    const rate = createSpeedMeter(clock);
    expect(rate({ done: 500, total: 1_000 })).toEqual({ progress: { done: 500, total: 1_000 } });
    advance(10);
    expect(rate({ done: 600, total: 1_000 }).progress?.perSecond).toBe(10);
    advance(10);
    expect(rate({ done: 900, total: 1_000 }).progress?.perSecond).toBe(20);
  });

  it('is unknown if no time has passed, nothing was done, or no progress was reported', () => {
    const { clock, advance } = createClock();
    const rate = createSpeedMeter(clock);
    rate({ done: 5, total: 9 });
    expect(rate({ done: 6, total: 9 })).toEqual({ progress: { done: 6, total: 9 } });
    advance(10);
    expect(rate({ done: 5, total: 9 })).toEqual({ progress: { done: 5, total: 9 } });
    expect(rate()).toEqual({});
  });
});

it.each([
  ['before its end', false, 999_000, undefined],
  ['at its end', true, 1_000_000, undefined],
  ['on a slow clock once a removal has begun', true, 999_000, 999_500],
])('the rollback period %s is over: %s', (_, isOver, now, overAt) => {
  const window = { deadlineAt: 0, retainUntil: 1_000_000, overAt };
  expect(retentionOf({ window }, new Date(now))).toMatchObject({ isOver });
});
