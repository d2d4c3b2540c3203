// Generates commands that change a ledger and often collide: they use few names, few days, and sometimes a deleted record.
import type { SeededRandom } from '../../../../cli/seeded-random.ts';
import type { Api, ApiResponse } from '../api/api-client.ts';
import type {
  CategoryFields,
  Command,
  Model,
  ModelCategory,
  TransactionFields,
} from './ledger-model.ts';

const NAMES = ['Food', 'food', 'Rent', 'Pay', 'Fun', 'Büro', 'Тест', '#', 'a#b'];
const COLORS = [null, '#123', '#A1B2C3'];
const UNKNOWN_ID = 9_999;

/** Leap days, the ends of months, years and the calendar, and one busy month. */
export const DAYS = [
  '0001-01-01',
  '2024-02-29',
  '2024-12-31',
  '2025-01-01',
  '2025-01-31',
  ...['01', '02', '03', '15', '30', '31'].map((day) => `2026-03-${day}`),
  '9999-12-31',
];

const WEIGHTED_KINDS: readonly [Command['kind'], weight: number][] = [
  ['create transaction', 38],
  ['update transaction', 30],
  ['delete transaction', 12],
  ['create category', 8],
  ['update category', 16],
  ['delete category', 8],
];

export function makeCommand(random: SeededRandom, model: Model): Command {
  const kind = random.pick(
    WEIGHTED_KINDS.flatMap(([each, weight]) => Array<Command['kind']>(weight).fill(each)),
  );
  switch (kind) {
    case 'create transaction':
      return { kind, fields: makeTransactionFields(random, model) };
    case 'update transaction':
      return {
        kind,
        id: pickId(random, model.transactions),
        changes: pickSome(random, makeTransactionFields(random, model)),
      };
    case 'create category':
      return { kind, fields: makeCategoryFields(random) };
    case 'update category':
      return {
        kind,
        id: pickId(random, model.categories),
        changes: pickSome(random, makeCategoryFields(random)),
      };
    case 'delete transaction':
      return { kind, id: pickId(random, model.transactions) };
    case 'delete category':
      return { kind, id: pickId(random, model.categories) };
  }
}

/** Makes two categories swap their names, through a temporary name. */
export function swapNames(random: SeededRandom, { categories }: Model): Command[] {
  const [first, second] = [
    random.pick([...categories.values()]),
    random.pick([...categories.values()]),
  ];
  const rename = ({ id }: ModelCategory, name: string): Command => {
    return { kind: 'update category', id, changes: { name } };
  };
  return [rename(first, 'Temporary'), rename(second, first.name), rename(first, second.name)];
}

export async function send(api: Api, command: Command): Promise<ApiResponse> {
  const [verb, resource] = command.kind.split(' ');
  const path = resource === 'category' ? '/categories' : '/transactions';
  if ('fields' in command) return await api.post(path, command.fields);
  const recordPath = `${path}/${command.id}`;
  return verb === 'update' && 'changes' in command
    ? await api.put(recordPath, command.changes)
    : await api.delete(recordPath);
}

function makeTransactionFields(random: SeededRandom, { categories }: Model): TransactionFields {
  return {
    description: random.pick(['Lunch', 'Shoes', 'Salary', 'Ünïcode ✓']),
    amount: random.integer(-500, 100_000) / 100,
    type: random.pick(['income', 'expense']),
    category_id: random.chance(0.2) ? null : pickId(random, categories),
    transaction_date: random.pick(DAYS),
    notes: random.pick([null, '', 'A note']),
  };
}

function makeCategoryFields(random: SeededRandom): CategoryFields {
  return {
    name: random.pick(NAMES),
    description: random.pick([null, 'What it is for']),
    color: random.pick(COLORS),
    is_active: random.chance(0.85),
  };
}

/** Picks at least one of the fields. */
function pickSome<Fields extends object>(random: SeededRandom, fields: Fields): Partial<Fields> {
  const entries = Object.entries(fields);
  const chosen = entries.filter(() => random.chance(0.4));
  return Object.fromEntries(chosen.length > 0 ? chosen : [random.pick(entries)]) as Partial<Fields>;
}

function pickId(random: SeededRandom, records: ReadonlyMap<number, unknown>): number {
  const ids = [...records.keys()];
  return ids.length === 0 || random.chance(0.04) ? UNKNOWN_ID : random.pick(ids);
}
