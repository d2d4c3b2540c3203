// The forecast of a window's length, and whether the planned window is long enough.
import { describe, expect, it } from 'vitest';
import { assertFits, forecastWindow, measureSpeed } from '../../../lib/migration/forecast.ts';
import type { Run } from '../../../lib/migration/runs/run.ts';
import { createStopwatch } from '../../../lib/migration/runs/times.ts';

const PLAN = { windowMinutes: 30, drainSeconds: 60 } as Run['plan'];
const COPIED = { 'verification-report': { facts: { points: 90_000, perSecond: 900 } } } as never;

const makeForecast = (changes: object = {}, maxRate?: number) =>
  forecastWindow({ plan: PLAN, evidence: COPIED, took: { backup: 140.2 }, ...changes }, maxRate);

const listStages = ({ estimates }: ReturnType<typeof forecastWindow>) =>
  estimates.map(({ stage, seconds, basis }) => `${stage} ${seconds} ${basis}`);

const MEASURED = ['freeze 60 configured', 'backup 141 measured', 'copy 100 measured'];

describe('a forecast', () => {
  it.each([
    ['of a first window', {}, [...MEASURED, 'deploy 110 assumed']],
    [
      'with a deployment that the operator knows',
      { plan: { ...PLAN, deploySeconds: 300 } },
      [...MEASURED, 'deploy 350 configured'],
    ],
    [
      'after a window',
      { took: { backup: 140.2, freeze: 75, deploy: 80 } },
      ['freeze 75 configured', ...MEASURED.slice(1), 'deploy 80 measured'],
    ],
    [
      'without a measured speed',
      { evidence: {}, took: { backup: 140.2, copy: 31 } },
      ['freeze 60 configured', 'backup 141 measured', 'copy 31 measured', 'deploy 76 assumed'],
    ],
    [
      'of a run in place',
      { plan: { ...PLAN, inPlace: true } },
      ['freeze 60 configured', 'backup 0 measured', 'copy 100 measured', 'deploy 110 assumed'],
    ],
    [
      'of a swap by upload',
      { plan: { ...PLAN, uploadAs: 'other' } },
      [...MEASURED, 'upload 281 measured', 'deploy 110 assumed'],
    ],
  ])('%s', (_, changes, stages) => {
    const forecast = makeForecast(changes);
    expect(listStages(forecast)).toEqual(stages);
    const sum = stages.reduce((sum, stage) => sum + Number(stage.split(' ')[1]), 0);
    expect(forecast.seconds).toBe(sum);
  });

  it('assumes that reads are at most as fast as the limit', () => {
    expect(listStages(makeForecast({}, 100))[2]).toBe('copy 1800 measured');
    expect(listStages(makeForecast({}, 100_000))[2]).toBe('copy 100 measured');
  });

  it('of a run without measurements uses the configured values', () => {
    expect(makeForecast({ evidence: {}, took: {} }).seconds).toBe(120);
  });
});

it.each([
  [{ seconds: 1_800 }, undefined],
  [{ seconds: 1_801 }, 34],
  [{ seconds: 7_000 }, 129],
])('in a window of 30 minutes, %o needs a window of %s minutes', (forecast, needed) => {
  const attempt = () => assertFits(forecast, 30);
  if (needed === undefined) return expect(attempt).not.toThrow();
  const data = { windowMinutes: needed };
  return expect(attempt).toThrow(expect.objectContaining({ name: 'RefusedPrerequisites', data }));
});

it('the duration of a step includes its invocations and the waits between them, but no interruptions', () => {
  let now = 0;
  const clock = () => new Date(now);
  const first = createStopwatch(clock);
  now += 100_000;
  const saved = { workedMs: first.milliseconds(), savedAt: now };
  now += 5_000;
  const second = createStopwatch(clock);
  second.resume(saved);
  now += 20_000;
  expect(second.milliseconds()).toBe(125_000);
  now += 3_600_000;
  const later = createStopwatch(clock);
  later.resume(saved);
  expect(later.milliseconds()).toBe(100_000);
});

it.each([
  ['of a walk', 9_000, 3_000, 3_000],
  ['of a short walk', 512, 1, 512],
  ['measured by a clock that was set back', 9_000, -5, 9_000],
])('the speed %s is computed over at least one second', (_, points, milliseconds, speed) => {
  expect(measureSpeed(points, milliseconds)).toBe(speed);
});
