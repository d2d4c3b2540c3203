// The bars of the bench: a figure meets its bar or misses it, and a figure that was not measured misses every bar.
import { expect, it } from 'vitest';
import { atLeast, atMost, markNotJudged } from '../../../../bench/report.ts';
import { median } from '../../../../bench/statistics.ts';

it.each([
  { bar: atMost('units', 5, 5, ''), met: true },
  { bar: atMost('units', 5.5, 5, ''), met: false },
  { bar: atLeast('gain', 1000, 1000, 'x'), met: true },
  { bar: atLeast('gain', 999, 1000, 'x'), met: false },
  { bar: atMost('units', median([]), 5, ''), met: false },
  { bar: markNotJudged(atMost('units', 5.5, 5, '')), met: undefined },
])('the figure $bar.figure meets the bar "$bar.rule $bar.limit": $met', ({ bar, met }) => {
  expect(bar.met).toBe(met);
});
