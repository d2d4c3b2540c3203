// The budget of a fictional household: the categories, how often each occurs, and the amounts.
import type { TransactionType } from '../../../lib/ledger/domain/transaction.ts';

export interface BudgetLine {
  readonly category: string;
  readonly color: string;
  readonly type: TransactionType;
  /** Days of the month on which the line always falls due. */
  readonly dueDays?: readonly number[];
  /** How often the line also occurs on other days, relative to the other lines of its type. */
  readonly weight: number;
  readonly amounts: readonly [number, number];
  readonly descriptions: readonly string[];
}

/** Thirty categories, for expenses and income. */
export const HOUSEHOLD_BUDGET: readonly BudgetLine[] = [
  expense('Rent', '#8D6E63', 0, [1180, 1180], ['Rent'], [1]),
  expense('Electricity', '#FBC02D', 0, [64, 142], ['Electricity bill'], [5]),
  expense('Heating', '#E64A19', 0, [48, 210], ['Heating bill'], [6]),
  expense('Internet', '#0288D1', 0, [39.9, 39.9], ['Fibre line'], [8]),
  expense('Phone', '#0097A7', 1, [9, 35], ['Mobile plan', 'Prepaid top-up'], [9]),
  expense('Insurance', '#455A64', 1, [18, 96], ['Household insurance', 'Liability insurance'], [3]),
  expense(
    'Groceries',
    '#388E3C',
    34,
    [4, 148],
    ['Supermarket', 'Farmers market', 'Bakery', 'Butcher', 'Corner shop'],
  ),
  expense('Eating out', '#F57C00', 12, [9, 96], ['Pizzeria', 'Noodle bar', 'Sunday brunch']),
  expense('Coffee', '#6D4C41', 11, [2.4, 12], ['Espresso bar', 'Coffee and cake']),
  expense('Public transport', '#1976D2', 7, [2.9, 49], ['Day ticket', 'Train to parents', 'Tram']),
  expense('Fuel', '#5D4037', 4, [32, 92], ['Petrol station']),
  expense('Car', '#37474F', 1, [24, 640], ['Car service', 'Tyres', 'Parking']),
  expense('Household', '#7B1FA2', 5, [3, 120], ['Hardware store', 'Cleaning supplies', 'Lamp']),
  expense('Furniture', '#A1887F', 0.6, [49, 1290], ['Bookshelf', 'Desk', 'Mattress']),
  expense('Clothing', '#C2185B', 3, [12, 240], ['Shoes', 'Winter jacket', 'Children’s clothes']),
  expense('Pharmacy', '#D32F2F', 3, [3, 64], ['Pharmacy', 'Plasters and vitamins']),
  expense('Doctor', '#E53935', 0.8, [10, 310], ['Dentist', 'Physiotherapy']),
  expense('Childcare', '#FFA000', 0.6, [40, 380], ['Kindergarten', 'Babysitter'], [2]),
  expense('School', '#FFB300', 1, [4, 120], ['School books', 'Class trip']),
  expense('Sports', '#00796B', 2, [8, 85], ['Climbing hall', 'Swimming pool', 'Gym']),
  expense('Books', '#512DA8', 2, [6, 58], ['Bookshop', 'Second-hand books']),
  expense(
    'Streaming',
    '#303F9F',
    0,
    [9.99, 17.99],
    ['Music streaming', 'Film streaming'],
    [12, 15],
  ),
  expense('Holidays', '#00ACC1', 1, [45, 1850], ['Train tickets', 'Holiday flat', 'Museum']),
  expense('Gifts', '#AD1457', 1, [8, 150], ['Birthday present', 'Flowers']),
  income('Salary', '#2E7D32', 0, [2450, 3380], ['Salary', 'Salary, part-time'], [25, 28]),
  income('Child benefit', '#43A047', 0, [250, 250], ['Child benefit'], [10]),
  income('Freelance', '#66BB6A', 4, [120, 1600], ['Invoice paid', 'Translation', 'Workshop fee']),
  income('Interest', '#9CCC65', 2, [0.12, 24], ['Savings interest', 'Dividend']),
  income('Refunds', '#26A69A', 5, [3, 180], ['Returned goods', 'Deposit back', 'Expenses repaid']),
  income('Second-hand sales', '#D4E157', 4, [5, 220], ['Bicycle sold', 'Flea market', 'Toys sold']),
];

type BudgetLineValues = [
  category: string,
  color: string,
  weight: number,
  amounts: readonly [number, number],
  descriptions: readonly string[],
  due?: readonly number[],
];

function expense(...line: BudgetLineValues): BudgetLine {
  return createBudgetLine('expense', line);
}

function income(...line: BudgetLineValues): BudgetLine {
  return createBudgetLine('income', line);
}

function createBudgetLine(
  type: TransactionType,
  [category, color, weight, amounts, descriptions, due = []]: BudgetLineValues,
): BudgetLine {
  return { category, color, type, weight, amounts, descriptions, dueDays: due };
}
