// A summary is the sum of its rows, for any categories, dates and types, and in every grouping.
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { SEED, seeded } from '../../../shared/support/seed.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  UNKNOWN_ID,
  uniqueName,
} from '../../support/api/records.ts';

const api = await openTestApi();

interface Row {
  readonly date: string;
  readonly type: string;
  readonly cents: number;
  /** Position of the row's category in CATEGORIES; null for no category */
  readonly category: number | null;
}

/** Names of the categories, before a random suffix */
const CATEGORIES = ['used', 'inactive', 'deleted', 'renamed'];
const UNKNOWN = CATEGORIES.length;
/** Dates in a year in which no other test has rows */
const DATES = ['1977-01-31', '1977-02-01', '1977-02-28', '1977-12-31'];
const TYPES = ['income', 'expense'];
const PERIODS: Readonly<Record<string, number>> = { day: 10, month: 7, year: 4 };
const ROWS: readonly Row[] = Array.from({ length: 24 }, (_, n) => ({
  ...{ date: DATES[(n * 7) % 4] ?? '', type: TYPES[n % 3 === 0 ? 0 : 1] ?? '' },
  ...{ cents: 101 + n * 1_009, category: [0, 1, 3, null][((n * 5) % 4) ^ (n >> 3)] ?? null },
}));

const RUNS = 100;

let ids: number[] = [];

beforeAll(async () => {
  for (const word of CATEGORIES)
    ids.push((await givenCategory(api, { name: uniqueName(word) })).id);
  for (const { date, type, cents, category } of ROWS) {
    await givenTransaction(api, {
      ...{ transaction_date: date, type, amount: cents / 100 },
      category_id: category === null ? null : ids[category],
    });
  }
  await api.put(`/categories/${ids[1]}`, { is_active: false });
  expect((await api.delete(`/categories/${ids[2]}`)).status).toBe(200);
  await api.put(`/categories/${ids[3]}`, { name: uniqueName('renamed') });
  ids = [...ids, UNKNOWN_ID];
});

const anyQuestion = fc.record({
  grouping: fc.constantFrom('category', 'type', ''),
  period: fc.constantFrom('day', 'month', 'year', ''),
  /** A category may occur more than once. */
  categories: fc.array(fc.constantFrom(null, 0, 1, 2, 3, UNKNOWN), {
    ...{ minLength: 1, maxLength: 8, size: 'max' },
  }),
  type: fc.constantFrom(undefined, ...TYPES),
  start_date: fc.constantFrom('1977-01-01', '1977-02-01', '1977-02-02'),
  end_date: fc.constantFrom('1977-01-01', '1977-02-28', '1977-12-31'),
});
type Question = typeof anyQuestion extends fc.Arbitrary<infer Each> ? Each : never;

function select({ categories, type, start_date, end_date }: Question): Row[] {
  return ROWS.filter((row) => categories.includes(row.category))
    .filter((row) => (type ?? row.type) === row.type)
    .filter(({ date }) => date >= start_date && date <= end_date);
}

function addUp(rows: readonly Row[]) {
  const sum = (wantedType: string) =>
    rows.filter(({ type }) => type === wantedType).reduce((total, { cents }) => total + cents, 0);
  const [income, expense] = [sum('income'), sum('expense')];
  return {
    ...{ income: income / 100, expense: expense / 100, net: (income - expense) / 100 },
    count: rows.length,
  };
}

/** Computes the groups that the response must have: their keys and their rows. */
function computeExpectedGroups(question: Question): { key: unknown; rows: Row[] }[] {
  const { grouping, categories, type, start_date, end_date } = question;
  const rows = select(question);
  if (start_date > end_date) return [];
  if (grouping === 'type')
    return TYPES.filter((each) => (type ?? each) === each).map((key) => ({
      key,
      rows: rows.filter((row) => row.type === key),
    }));
  // Groups are sorted by name, and "deleted" comes before "inactive".
  return [2, 1, 3, 0, null]
    .filter((each) => categories.includes(each))
    .map((each) => ({
      key: each === null ? null : ids[each],
      rows: rows.filter((row) => row.category === each),
    }));
}

it(`every summary of several categories equals the model's (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(anyQuestion, async (question) => {
    const { grouping, period, categories, ...filter } = question;
    fc.pre(grouping !== '' || period !== '');
    const group_by = [grouping, period].filter(Boolean).join();
    const category_id = categories.map((each) => (each === null ? 'none' : ids[each])).join();
    const query = JSON.parse(JSON.stringify({ group_by, category_id, ...filter }));
    const { status, text, body } = await api.get('/summary', query);
    expect(status, text).toBe(200);
    const { groups, days, months, years, ...totals } = body.data;
    const rows = select(question);
    expect(totals).toEqual(addUp(rows));
    const usedPeriods = rows.map(({ date }) => date.slice(0, PERIODS[period])).toSorted();
    const periods = days ?? months ?? years ?? groups.map(({ key }: { key: string }) => key);
    const addUpByPeriod = (selected: readonly Row[]) =>
      periods.map((each: string) => addUp(selected.filter(({ date }) => date.startsWith(each))));
    if (period) {
      expect([periods[0], periods.at(-1)]).toEqual([usedPeriods[0], usedPeriods.at(-1)]);
      expect(periods).toEqual([...new Set(periods)].toSorted());
      expect(periods).toEqual(expect.arrayContaining(usedPeriods));
    }
    if (!grouping) {
      expect(groups).toMatchObject(addUpByPeriod(rows));
      return;
    }
    const expected = computeExpectedGroups(question);
    expect(groups.map(({ key }: { key: unknown }) => key)).toEqual(expected.map(({ key }) => key));
    const figures = expected.map(({ rows: groupRows }) => {
      if (!period) return addUp(groupRows);
      const totalsByPeriod: ReturnType<typeof addUp>[] = addUpByPeriod(groupRows);
      return Object.fromEntries(
        (['income', 'expense', 'net', 'count'] as const).map((name) => [
          name,
          totalsByPeriod.map((totals) => totals[name]),
        ]),
      );
    });
    expect(groups).toMatchObject(figures);
  });
  // A quick run asks all questions, too, because each takes only milliseconds.
  await fc.assert(property, seeded(RUNS, RUNS));
});
