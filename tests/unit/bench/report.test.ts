// How figures are put against their bars and written down.
import { describe, expect, it } from 'vitest';
import { atLeast, atMost, notJudged, round, toMarkdown } from '../../../bench/report.ts';

describe('a bar', () => {
  it.each([
    { bar: atMost('units', 5, 5, ''), met: true },
    { bar: atMost('units', 5.5, 5, ''), met: false },
    { bar: atLeast('gain', 1000, 1000, 'x'), met: true },
    { bar: atLeast('gain', 999, 1000, 'x'), met: false },
    { bar: atMost('units', Number.NaN, 5, ''), met: false },
    { bar: notJudged(atMost('units', 5.5, 5, '')), met: undefined },
  ])('$bar.rule of $bar.figure, $bar.limit: $met', ({ bar, met }) => {
    expect(bar.met).toBe(met);
  });
});

describe('a figure', () => {
  it.each([
    [0.3149, '0.31'],
    [4.5, '4.5'],
    [12.345, '12.3'],
    [237.6, '238'],
    [11_068, '11,068'],
  ])('of %d reads %s', (value, text) => {
    expect(round(value)).toBe(text);
  });
});

it('a report becomes a table of bars and its own tables, figures to the right', () => {
  const report = {
    bars: [atMost('read units', 4.5, 5, ''), atMost('start', 4, 3.6, 'x')],
    tables: [{ title: 'By filter:', columns: ['filter', 'units'], rows: [['all', 4.5]] }],
  };
  expect(toMarkdown(report)).toBe(
    [
      '| Bar | Measured | Limit |  |',
      '| --- | --- | --- | --- |',
      '| read units | 4.5 | at most 5 | met |',
      '| start | 4x | at most 3.6x | **not met** |',
      '',
      'By filter:',
      '',
      '| filter | units |',
      '| --- | --: |',
      '| all | 4.5 |',
    ].join('\n'),
  );
});

it('a part that was left out says so first', () => {
  const report = { bars: [], tables: [], skipped: 'there is no PostgreSQL here' };
  expect(toMarkdown(report)).toBe('**Skipped:** there is no PostgreSQL here');
});
