// Dates without a year: the importer adds the year if only one fits, and otherwise refuses the date.
import { expect, it } from 'vitest';
import { readCsv } from '../../../../lib/ledger/import/statement.ts';

const read = (linesAbove: readonly string[], dates: readonly string[], today = '2026-02-01') => {
  const rows = dates.map((date, n) => `${date};Shop ${n};-${n + 1},00`);
  const statement = readCsv([...linesAbove, 'Datum;Text;Betrag', ...rows].join('\n'), { today });
  return { ...statement, dates: statement.rows.map(({ date }) => date) };
};
const PERIOD = 'Zeitraum: 15.12.2025 - 14.01.2026';

it('the importer uses the year of the statement’s period, even across the end of a year', () => {
  const { dates, refused, findings } = read(['Karte 12', PERIOD], ['30.12.', '02.01.', '14.1']);
  expect(dates).toEqual(['2025-12-30', '2026-01-02', '2026-01-14']);
  expect(refused).toEqual([]);
  expect(findings).toContainEqual(expect.stringContaining('3 dates without a year'));
});

it.each([
  ['12/30', '12/15/2025 - 01/14/2026', '2025-12-30'],
  ['30/12', '15.12.2025 - 14.01.2026', '2025-12-30'],
  ['1/5', 'Dec 15, 2025 to Jan 14, 2026', '2026-01-05'],
])('the importer decides which part of %s is the month: %s', (date, period, expected) => {
  expect(read([`Statement: ${period}`], [date]).dates).toEqual([expected]);
});

it('the importer uses the year of full dates above and below, oldest or newest first', () => {
  expect(read([], ['28.12.2025', '30.12.', '31.12.', '02.01.2026']).dates).toEqual([
    ...['2025-12-28', '2025-12-30', '2025-12-31', '2026-01-02'],
  ]);
  expect(read([], ['02.01.2026', '30.12.', '28.12.2025']).dates[1]).toBe('2025-12-30');
});

it('the importer does not mistake a shop for a total because its date has no year', () => {
  const file = [PERIOD, 'Datum;Text;Betrag', '30.12.;Total Tankstelle;-45,00'];
  const { rows, leftOut } = readCsv(file.join('\n'), { today: '2026-02-01' });
  expect(rows).toMatchObject([{ description: 'Total Tankstelle', date: '2025-12-30' }]);
  expect(leftOut).toEqual([]);
});

it.each([
  ['a day outside the period', [PERIOD], ['20.01.']],
  ['a period that fits two years', ['01.01.2025 - 28.02.2026'], ['15.01.']],
  ['a period of several years', ['31.12.2023 - 01.01.2026'], ['31.12.']],
  ['two periods', [PERIOD, '15.11.2025 - 14.12.2025'], ['30.12.']],
  ['day and month that may be swapped', ['01.12.2025 - 31.01.2026'], ['01/12']],
  ['no full date below', [], ['28.12.2025', '30.12.']],
  ['unsorted full dates', [], ['05.01.2025', '06.01.', '07.01.2025', '01.01.2025']],
  ['no full date', [], ['30.12.', '02.01.']],
])('the importer refuses a date without a year: %s', (_, linesAbove, dates) => {
  const { refused } = read(linesAbove, dates);
  expect(refused.map(({ message }) => message)).toEqual(
    dates.flatMap((date) =>
      date.length < 7 ? [expect.stringContaining(`"${date}" has no year`)] : [],
    ),
  );
});
