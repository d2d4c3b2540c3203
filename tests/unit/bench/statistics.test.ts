// Figures of many measurements.
import { describe, expect, it } from 'vitest';
import { mean, median } from '../../../bench/statistics.ts';

describe('median', () => {
  it.each([
    { of: [3], is: 3 },
    { of: [9, 1, 5], is: 5 },
    { of: [10, 9, 100, 1], is: 9.5 },
  ])('of $of is $is', ({ of, is }) => {
    expect(median(of)).toBe(is);
  });

  it('leaves what it was given in its order', () => {
    const times = [9, 1, 5];
    median(times);
    expect(times).toEqual([9, 1, 5]);
  });

  it('of nothing is no number that could pass for a good one', () => {
    expect(median([])).toBeNaN();
  });
});

it('the mean is the sum by the count', () => {
  expect(mean([1, 2, 6])).toBe(3);
});
