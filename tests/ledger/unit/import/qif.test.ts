// The entries in QIF statements.
import { describe, expect, it } from 'vitest';
import { type QifOptions, readQif } from '../../../../lib/ledger/import/qif.ts';

const read = (text: string, options: Partial<QifOptions> = {}) =>
  readQif(text, { today: '2026-01-15', ...options });
const joinLines = (...texts: readonly string[]) => `${texts.join('\n')}\n`;

function readDates(...dates: readonly string[]): readonly string[] {
  const records = dates.map((date) => joinLines(`D${date}`, 'T-1.00', 'PSHOP', '^')).join('');
  return read(`!Type:Bank\n${records}`).entries.map(({ date }) => date);
}

describe('the QIF reader', () => {
  it('reads rows with their categories', () => {
    const text = joinLines(
      ...[
        '!Type:Bank',
        "D12/30'25",
        'T-1,045.10',
        'CX',
        'PGROCER 12',
        'Mcard',
        'LFood:Groceries/Trip',
        '^',
      ],
      ...['D12/28/2025', 'U2,500.00', 'PACME PAYROLL'],
    );
    expect(read(text)).toMatchObject({
      entries: [
        {
          line: 2,
          date: '2025-12-30',
          signed: -1045.1,
          texts: ['GROCER 12'],
          notes: 'card',
          category: 'Food:Groceries',
        },
        { line: 9, date: '2025-12-28', signed: 2500, texts: ['ACME PAYROLL'], category: null },
      ],
      leftOut: [],
      refused: [],
      findings: ['dates are read as mdy (--date-order sets another order)'],
    });
  });

  it.each([
    [
      ["12/30'25", "1/ 5'25"],
      ['2025-12-30', '2025-01-05'],
    ],
    [
      ['30/12/2025', '5/1/2025'],
      ['2025-12-30', '2025-01-05'],
    ],
    [
      ['30.12.25', '05.01.25'],
      ['2025-12-30', '2025-01-05'],
    ],
    [['2025-12-30'], ['2025-12-30']],
    [["30/12'2025"], ['2025-12-30']],
  ])('reads the dates %j', (written, expected) => {
    expect(readDates(...written)).toEqual(expected);
  });

  it('asks for the order if day and month may be swapped', () => {
    expect(() => readDates('1/2/2025', '3/4/2025')).toThrow('--date-order');
    const text = joinLines('!Type:Bank', 'D1/2/2025', 'T-1', '^');
    expect(read(text, { dateOrder: 'dmy' }).entries).toMatchObject([{ date: '2025-02-01' }]);
  });

  it('reads each split as a row, or a single row if the splits do not add up', () => {
    const createSplit = (amount: string) =>
      joinLines(
        ...['!Type:Bank', 'D12/30/2025', `T${amount}`, 'PMARKET', 'LFood'],
        ...['SFood', 'Ebread', '$-10.00', 'SHousehold', '$-5.00', 'S[Savings]', '$-2.00'],
        ...['SNothing', '$0.00', '^'],
      );
    expect(read(createSplit('-17.00')).entries).toMatchObject([
      { signed: -10, category: 'Food', texts: ['MARKET'], notes: 'bread' },
      { signed: -5, category: 'Household', notes: null },
      { signed: -2, category: null, notes: 'Transfer: Savings' },
    ]);
    expect(read(createSplit('-18.00')).entries).toMatchObject([{ signed: -18, category: 'Food' }]);
  });

  it('reads several accounts, cards, and transfers between them', () => {
    const text = joinLines(
      ...['!Option:AutoSwitch', '!Account', 'NGiro', 'TBank', '^', 'NVisa', 'TCCard', '^'],
      ...['!Clear:AutoSwitch', '!Account', 'NGiro', 'TBank', '^', '!Type:Bank '],
      ...['D12/01/2025', 'T100.00', 'POpening Balance', 'L[Giro]', '^'],
      ...['D12/30/2025', 'T-9.00', 'PPay the card', 'L[Visa]', '^'],
      ...['!Account', 'NVisa', 'TCCard', '^', '!type:CCard', 'D12/29/2025', 'T-9.00', 'PShop', '^'],
    );
    const { entries, leftOut } = read(text);
    expect(entries).toMatchObject([
      { account: 'Giro', texts: ['Pay the card'], notes: 'Transfer: Visa', category: null },
      { account: 'Visa', texts: ['Shop'], signed: -9 },
    ]);
    expect(leftOut).toEqual([
      { line: 15, reason: 'opening balance', text: '12/01/2025 100.00 Opening Balance' },
    ]);
  });

  it('reports investments as left out, and skips lists of categories, securities and prices', () => {
    const text = joinLines(
      ...['!Type:Cat', 'NFood', 'E', '^', '!Type:Security', 'NACME', '^'],
      ...['!Type:Invst', 'D12/30/2025', 'NBuy', 'YACME', 'I10', 'Q1', 'T10.00', '^'],
      ...[
        '!Type:Memorized',
        'KC',
        'T-5',
        'PSHOP',
        '^',
        '!Type:Prices',
        '"ACME",10,"12/30/25"',
        '^',
      ],
    );
    const bank = joinLines('!Type:Bank', 'D12/30/2025', 'T-1.00', '^');
    expect(read(text + bank)).toMatchObject({
      entries: [{ signed: -1 }],
      leftOut: [{ line: 9, reason: 'investments', text: '1 movement' }],
      refused: [],
    });
    expect(() => read(text)).toThrow('only investments');
  });

  it('refuses an unreadable row, and names its line', () => {
    const text = joinLines(
      ...['!Type:Bank', 'D12/30/2025', 'Tabc', '^', 'T-1', '^', 'D13/30/2025', 'T-1', '^'],
    );
    expect(read(text).refused.map(({ line }) => line)).toEqual([2, 5, 7]);
  });

  it('reads decimal commas', () => {
    const text = joinLines('!Type:Bank', 'D30.12.2025', 'T-1.045,10', 'PLaden', '^');
    expect(read(text).entries).toMatchObject([{ signed: -1045.1 }]);
  });
});
