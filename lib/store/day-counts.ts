// The day histogram in the table: items of a year (counts by month) and of a month (counts by day).
// Attributes are i1, i2 ... for income and e1, e2 ... for expense: short, for every list reads them.
import { type CalendarMonth, monthOf, yearOf } from '../domain/calendar-date.ts';
import {
  type DateRange,
  type MonthCounts,
  type SlotCounts,
  slotsOf,
  type YearCounts,
  yearsOf,
} from '../domain/day-histogram.ts';
import type { Transaction, TransactionType } from '../domain/transaction.ts';
import type { Database, Item, Write } from './database.ts';
import { type Key, type Keys, monthKey, periodOf, yearKey } from './keys.ts';
import { addTo } from './update-writes.ts';

/** The fields of a transaction that decide where it is counted. */
export type Counted = Pick<Transaction, 'date' | 'type' | 'categoryId'>;

export type DayCounts = ReturnType<typeof createDayCounts>;

const PREFIXES: Readonly<Record<TransactionType, string>> = { income: 'i', expense: 'e' };

export function createDayCounts(database: Database, keys: Keys) {
  /** Years of the range that have transactions. */
  async function years(range: DateRange, categoryId?: number | null): Promise<YearCounts[]> {
    const { first, last } = yearsOf(range);
    const value = keys.days(categoryId);
    const items = await database.query({ value, between: [yearKey(first), yearKey(last)] });
    return items.map((item) => ({ year: periodOf(String(item.sk)), ...toSlotCounts(item) }));
  }

  async function month(month: CalendarMonth, categoryId?: number | null): Promise<MonthCounts> {
    const key = { pk: keys.days(categoryId), sk: monthKey(month) };
    const item = await database.get(key, { consistent: false });
    return { month, ...toSlotCounts(item ?? {}) };
  }

  /** The writes that keep the counts right when a transaction is created, deleted or changed. */
  function follow(before: Counted | undefined, after: Counted | undefined): Write[] {
    const changes = new Map<string, CountChange>();
    if (before) note(changes, keys, before, -1);
    if (after) note(changes, keys, after, 1);
    return [...changes.values()].flatMap(toWrite);
  }

  return { years, month, follow };
}

interface CountChange {
  readonly key: Key;
  readonly byAttribute: Map<string, number>;
}

/** The counters of a transaction: of all and of its category, or of those without one, by year and by month. */
export function countersOf(keys: Keys, { date, type, categoryId }: Counted) {
  const families = [keys.days(), keys.days(categoryId)];
  const { ofYear, ofMonth } = slotsOf(date);
  return families.flatMap((pk) => [
    { key: { pk, sk: yearKey(yearOf(date)) }, attribute: PREFIXES[type] + ofYear },
    { key: { pk, sk: monthKey(monthOf(date)) }, attribute: PREFIXES[type] + ofMonth },
  ]);
}

/** What one counter of a year or of a month counts, in words: `income of 2026-03`. */
export function describeCounter(sk: string, attribute: string): string {
  const [type] = Object.entries(PREFIXES).find(([, prefix]) => attribute.startsWith(prefix)) ?? [];
  const slot = attribute.slice(1).padStart(2, '0');
  return type ? `${type} of ${periodOf(sk)}-${slot}` : `${attribute} of ${sk}`;
}

function note(changes: Map<string, CountChange>, keys: Keys, counted: Counted, by: number): void {
  for (const { key, attribute } of countersOf(keys, counted)) {
    const name = `${key.pk} ${key.sk}`;
    const change = changes.get(name) ?? { key, byAttribute: new Map<string, number>() };
    change.byAttribute.set(attribute, (change.byAttribute.get(attribute) ?? 0) + by);
    changes.set(name, change);
  }
}

function toWrite({ key, byAttribute }: CountChange): Write[] {
  const changed = [...byAttribute].filter(([, by]) => by !== 0);
  return changed.length === 0 ? [] : [addTo(key, new Map(changed))];
}

function toSlotCounts(item: Item): SlotCounts {
  return { income: slots(item, PREFIXES.income), expense: slots(item, PREFIXES.expense) };
}

function slots(item: Item, prefix: string): Map<number, number> {
  const own = new RegExp(`^${prefix}\\d+$`);
  return new Map(
    Object.entries(item)
      .filter(([name]) => own.test(name))
      .map(([name, count]) => [Number(name.slice(1)), Number(count)]),
  );
}
