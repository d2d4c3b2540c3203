// Generates the ledger of a fictional household, the same for the same seed: salaries, rents and groceries over years, with
// quiet and busy days.
import type { CategoryFields } from '../../../lib/ledger/domain/category.ts';
import type { TransactionFields, TransactionType } from '../../../lib/ledger/domain/transaction.ts';
import { createSeededRandom, type SeededRandom } from '../../seeded-random.ts';
import { type BudgetLine, HOUSEHOLD_BUDGET } from './household-budget.ts';

export interface HouseholdOptions {
  readonly transactions: number;
  /** Number of years, up to the last day, over which the transactions are spread. */
  readonly years: number;
  readonly lastDay: string;
  readonly seed: number;
  /** Ids of the household's categories, in the order of `createHouseholdCategories`. */
  readonly categoryIds: readonly number[];
}

const BUSY_DAY_TRANSACTIONS = 50;
const BUSY_DAY_SHARE = 0.01;
/** Largest share of all transactions that busy days may have. */
const MAX_BUSY_TRANSACTION_SHARE = 0.1;
const INCOME_SHARE = 0.2;
const UNCATEGORISED_SHARE = 0.03;
const NOTES_SHARE = 0.12;
const REFUND_SHARE = 0.01;
const MILLISECONDS_PER_DAY = 86_400_000;

const NOTES = [
  'Split with Robin',
  'Paid in cash',
  'Receipt is in the blue folder; the guarantee runs for two years.',
  'Ask for the invoice',
  'For the summer house',
];

export function createHouseholdCategories(): CategoryFields[] {
  return HOUSEHOLD_BUDGET.map(({ category, color, type, descriptions }) => ({
    name: category,
    description: `${type === 'income' ? 'Money in' : 'Money out'}: ${descriptions.join(', ')}`,
    color,
    isActive: true,
  }));
}

/** Yields exactly the requested number of transactions, oldest first. Busy days have 50 each, or the mean if that is higher. */
export function* generateHouseholdTransactions(
  options: HouseholdOptions,
): Generator<TransactionFields> {
  const random = createSeededRandom(options.seed);
  for (const [date, count] of countByDay(options, random)) {
    const lines = pickLines(date, count, random);
    for (const line of lines) yield createTransaction(line, date, options.categoryIds, random);
  }
}

/**
 * Yields the number of transactions of each day: similar on most days, more on a few busy days, and the requested number in
 * all.
 */
function* countByDay(
  { transactions, years, lastDay }: HouseholdOptions,
  random: SeededRandom,
): Generator<[string, number]> {
  const days = Math.round(years * 365.25);
  const meanPerDay = transactions / days;
  const busyDayCount = Math.max(BUSY_DAY_TRANSACTIONS, meanPerDay);
  const busyDayShare = Math.min(
    BUSY_DAY_SHARE,
    (MAX_BUSY_TRANSACTION_SHARE * meanPerDay) / busyDayCount,
  );
  const counts = Array.from({ length: days }, () =>
    random.chance(busyDayShare) ? busyDayCount : meanPerDay * random.between(0.25, 1.75),
  );
  const ordinaryCounts = counts.filter((count) => count !== busyDayCount);
  const scale =
    (transactions - (days - ordinaryCounts.length) * busyDayCount) /
    ordinaryCounts.reduce((sum, count) => sum + count, 0);
  let expectedCount = 0;
  let yieldedCount = 0;
  for (const [day, count] of counts.entries()) {
    expectedCount += count === busyDayCount ? count : count * scale;
    const total = day === days - 1 ? transactions : Math.round(expectedCount);
    yield [subtractDays(lastDay, days - 1 - day), total - yieldedCount];
    yieldedCount = total;
  }
}

function subtractDays(date: string, days: number): string {
  return new Date(Date.parse(date) - days * MILLISECONDS_PER_DAY).toISOString().slice(0, 10);
}

/** Picks the lines that fall due on the day first, and all other lines by weight. */
function pickLines(date: string, count: number, random: SeededRandom): BudgetLine[] {
  const dayOfMonth = Number(date.slice(8));
  const dueLines = HOUSEHOLD_BUDGET.filter((line) => line.dueDays?.includes(dayOfMonth)).slice(
    0,
    count,
  );
  const otherLines = Array.from({ length: count - dueLines.length }, () => {
    return pickByWeight(random.chance(INCOME_SHARE) ? 'income' : 'expense', random);
  });
  return [...dueLines, ...otherLines];
}

function pickByWeight(type: TransactionType, random: SeededRandom): BudgetLine {
  const lines = HOUSEHOLD_BUDGET.filter((line) => line.type === type);
  let remainingWeight = random.next() * lines.reduce((sum, { weight }) => sum + weight, 0);
  for (const line of lines) {
    remainingWeight -= line.weight;
    if (remainingWeight < 0) return line;
  }
  return random.pick(lines);
}

function createTransaction(
  line: BudgetLine,
  date: string,
  categoryIds: readonly number[],
  random: SeededRandom,
): TransactionFields {
  const sign = random.chance(REFUND_SHARE) ? -1 : 1;
  const categoryId = categoryIds[HOUSEHOLD_BUDGET.indexOf(line)] ?? null;
  return {
    description: random.pick(line.descriptions),
    amount: sign * (Math.round(random.between(...line.amounts) * 100) / 100),
    type: line.type,
    categoryId: random.chance(UNCATEGORISED_SHARE) ? null : categoryId,
    date,
    notes: random.chance(NOTES_SHARE) ? random.pick(NOTES) : null,
  };
}
