// After any sequence of creations, changes and deletions, a summary equals the sum of the rows themselves.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import {
  daysInMonth,
  fromDayNumber,
  monthOf,
  toDayNumber,
} from '../../../lib/ledger/domain/calendar-date.ts';
import { MAX_AMOUNT } from '../../../lib/ledger/domain/money.ts';
import {
  MAX_SUMMARY_DAYS,
  type Period,
  type SummaryQuery,
} from '../../../lib/ledger/domain/summary.ts';
import {
  TRANSACTION_TYPES,
  type TransactionFields,
  type TransactionWithCategoryName,
} from '../../../lib/ledger/domain/transaction.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { anyDate, crowdedDate } from '../support/calendar-arbitraries.ts';

const table = await createTestTable();
const CATEGORIES = [1, 2, 3];
/** A category that is made inactive after it has transactions */
const INACTIVE = 2;

const cents = fc.oneof(
  fc.integer({ min: -10_000, max: 100_000 }),
  fc.constantFrom(0, Math.round(MAX_AMOUNT * 100), -Math.round(MAX_AMOUNT * 100)),
);
const fields: fc.Arbitrary<TransactionFields> = fc.record({
  description: fc.constant('x'),
  notes: fc.constant(null),
  date: crowdedDate,
  amount: cents.map((value) => value / 100),
  type: fc.constantFrom(...TRANSACTION_TYPES),
  categoryId: fc.constantFrom(null, ...CATEGORIES),
});
const change = fc.record({ position: fc.nat(), newFields: fc.option(fields, { nil: undefined }) });
const boundary = fc.option(fc.oneof(crowdedDate, anyDate), { nil: undefined });
const GROUPINGS = [
  ...[{ grouping: 'category' }, { grouping: 'type' }, { period: 'month' }, { period: 'year' }],
  ...[{ period: 'day' }, { grouping: 'category', period: 'day' }],
  { grouping: 'category', period: 'month' },
  { grouping: 'type', period: 'year' },
] as const;
const filter = fc.record({
  type: fc.constantFrom(undefined, ...TRANSACTION_TYPES),
  categoryIds: fc.oneof(
    fc.constant(undefined),
    fc.uniqueArray(fc.constantFrom(null, ...CATEGORIES, 9), { minLength: 1, maxLength: 3 }),
  ),
  startDate: boundary.map((date) => date && roundSomeToMonths(date, '01')),
  endDate: boundary.map((date) => date && roundSomeToMonths(date)),
});

const query: fc.Arbitrary<SummaryQuery> = fc
  .tuple(fc.constantFrom(...GROUPINGS), filter)
  .map(([grouping, filtered]) => withBoundedDays({ ...grouping, ...filtered }));

/** Limits the range of a summary by day to the number of days that the API allows. */
function withBoundedDays(query: SummaryQuery): SummaryQuery {
  if (query.period !== 'day') return query;
  const { endDate = '2026-03-31' } = query;
  const earliest = Math.max(toDayNumber('0001-01-01'), toDayNumber(endDate) + 1 - MAX_SUMMARY_DAYS);
  const start = Math.max(toDayNumber(query.startDate ?? endDate), earliest);
  return { ...query, startDate: fromDayNumber(start), endDate };
}

/** Rounds some dates to the edge of a month, because ranges of whole months are read from different items. */
function roundSomeToMonths(date: string, day?: string): string {
  if (Number(date.slice(8)) % 2 === 0) return date;
  return `${monthOf(date)}-${day ?? daysInMonth(monthOf(date))}`;
}

let runs = 0;

async function givenLedger(
  rows: readonly TransactionFields[],
  changes: readonly { position: number; newFields: TransactionFields | undefined }[],
) {
  runs += 1;
  const target = { ...table, ledgerId: `run-${runs}` };
  const ledger = openLedger({ ...target, timeZone: 'UTC' });
  const { categories, transactions } = ledger;
  for (const id of CATEGORIES) {
    const name = `Category ${id}`;
    await categories.create({ name, description: null, color: null, isActive: true });
  }
  const model: TransactionWithCategoryName[] = [];
  for (const row of rows) model.push(await transactions.create(row));
  for (const { position, newFields } of changes) {
    const existing = model[position % model.length];
    if (!existing) continue;
    const index = model.indexOf(existing);
    if (newFields) model[index] = await transactions.update(existing, newFields);
    else {
      await transactions.remove(String(existing.id));
      model.splice(index, 1);
    }
  }
  await categories.update(await categories.find(String(INACTIVE)), { isActive: false });
  return { ledger, model, verification: createVerification(target) };
}

function addUp(rows: readonly TransactionFields[]) {
  const sum = (wantedType: string) =>
    rows
      .filter(({ type }) => type === wantedType)
      .reduce((total, { amount }) => total + BigInt(Math.round(amount * 100)), 0n);
  return { incomeCents: sum('income'), expenseCents: sum('expense'), count: rows.length };
}

function summarizeRows(model: readonly TransactionFields[], query: SummaryQuery) {
  const { grouping, period, type, categoryIds, startDate = '', endDate = '9999-99-99' } = query;
  const isEmpty = startDate > endDate;
  const rows = model
    .filter((row) => (type ?? row.type) === row.type)
    .filter((row) => categoryIds?.includes(row.categoryId) ?? true)
    .filter(({ date }) => date >= startDate && date <= endDate);
  const groups = {
    category: () =>
      [...CATEGORIES, null]
        .filter((id) => categoryIds?.includes(id) ?? true)
        .map((key) => ({
          group: { key, name: key === null ? null : `Category ${key}` },
          rows: rows.filter((row) => row.categoryId === key),
        })),
    type: () =>
      TRANSACTION_TYPES.filter((each) => (type ?? each) === each).map((key) => ({
        group: { key },
        rows: rows.filter((row) => row.type === key),
      })),
  };
  const groupsWithRows = isEmpty || !grouping ? [] : groups[grouping]();
  const periods = period ? listPeriods(rows, period) : [];
  const addUpIn = (period: string, rows: readonly TransactionFields[]) =>
    addUp(rows.filter(({ date }) => date.startsWith(period)));
  const total = addUp(rows);
  if (!period) {
    return {
      ...total,
      groups: groupsWithRows.map((each) => ({ ...each.group, ...addUp(each.rows) })),
    };
  }
  if (!grouping) {
    return { ...total, groups: periods.map((key) => ({ key, ...addUpIn(key, rows) })) };
  }
  const series = groupsWithRows.map(({ group, rows: groupRows }) => ({
    ...group,
    totals: periods.map((each) => addUpIn(each, groupRows)),
  }));
  return { ...total, period, periods, series };
}

/** Lists all periods from the first row's to the last row's. */
function listPeriods(rows: readonly TransactionFields[], period: Period): string[] {
  const { length } = { day: 'YYYY-MM-DD', month: 'YYYY-MM', year: 'YYYY' }[period];
  const used = rows.map(({ date }) => date.slice(0, length)).toSorted();
  const [first, last] = [used[0], used.at(-1)];
  if (first === undefined || last === undefined) return [];
  const all: string[] = [];
  for (let year = Number(first.slice(0, 4)); year <= Number(last.slice(0, 4)); year += 1) {
    const text = String(year).padStart(4, '0');
    const months = listNumbers(12).map((month) => `${text}-${month}`);
    if (period === 'year') all.push(text);
    if (period === 'month') all.push(...months);
    if (period !== 'day') continue;
    for (const month of months) {
      all.push(...listNumbers(daysInMonth(month)).map((day) => `${month}-${day}`));
    }
  }
  return all.filter((each) => each >= first && each <= last);
}

function listNumbers(max: number): string[] {
  return Array.from({ length: max }, (_, n) => String(n + 1).padStart(2, '0'));
}

/** Limit in docs/ledger/api.md */
const MAX_PERIODS = 1_200;
const TOO_MANY_PERIODS = expect.stringContaining(`may have ${MAX_PERIODS}`);

function countPeriods(summary: ReturnType<typeof summarizeRows>, { period }: SummaryQuery): number {
  if ('periods' in summary) return summary.periods.length;
  return period ? summary.groups.length : 0;
}

test(`every summary equals the model's (seed ${SEED})`, async () => {
  const rows = fc.array(fields, { maxLength: 45, size: 'max' });
  const changes = fc.array(change, { maxLength: 10 });
  const queriesToRun = fc.array(query, { minLength: 1, maxLength: 12, size: 'max' });
  const property = fc.asyncProperty(
    rows,
    changes,
    queriesToRun,
    async (initialRows, ledgerChanges, queries) => {
      const { ledger, model, verification } = await givenLedger(initialRows, ledgerChanges);
      for (const query of queries) {
        const summary = ledger.summaries.read(query);
        const expected = summarizeRows(model, query);
        if (countPeriods(expected, query) <= MAX_PERIODS) expect(await summary).toEqual(expected);
        else
          await expect(summary).rejects.toMatchObject({
            details: { group_by: [TOO_MANY_PERIODS] },
          });
      }
      expect((await verification.verify()).drifts).toEqual([]);
    },
  );
  await fc.assert(property, seeded(40));
});
