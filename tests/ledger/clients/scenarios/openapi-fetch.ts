// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
import createClient from 'openapi-fetch';
import type { paths } from './ledger.ts';

const { LEDGER_URL: baseUrl = '', LEDGER_KEY, READ_KEY } = process.env;
const connect = (headers = {}) => createClient<paths>({ baseUrl, headers });
const ledger = connect({ authorization: `Bearer ${LEDGER_KEY}` });

const formatAmount = (amount: number | undefined) => amount?.toFixed(2);

/** Returns the data of a successful response. @throws Error for a failure */
async function expectData<Data>(result: Promise<{ data?: Data; error?: unknown }>): Promise<Data> {
  const { data, error } = await result;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** Returns the error and the status of a failure. @throws Error for a successful response */
async function expectError<Failure>(
  result: Promise<{ error?: Failure; response: Response }>,
): Promise<NonNullable<Failure> & { status: number }> {
  const { error, response } = await result;
  if (!error) throw new Error('An error was expected');
  return { ...error, status: response.status };
}

const { data: food } = await expectData(ledger.POST('/categories', { body: { name: 'Food' } }));
console.log(`category ${food.name}`);

const body = {
  description: 'Boat',
  amount: 12345678.91,
  type: 'expense',
  category_id: food.id,
  transaction_date: '2026-03-05',
  notes: 'Blue',
  external_id: 'bank-1',
  import_id: 'march',
} as const;
const withIdempotencyKey = { header: { 'Idempotency-Key': 'boat' } };
const { data: boat } = await expectData(
  ledger.POST('/transactions', { params: withIdempotencyKey, body }),
);
console.log(`created ${formatAmount(boat.amount)}`);
const retried = await expectData(
  ledger.POST('/transactions', { params: withIdempotencyKey, body }),
);
console.log(`retried: ${retried.data.id === boat.id ? 'the same' : 'another'}`);

const transactions = [
  { description: 'Prize', amount: 999999999999.99, type: 'income', transaction_date: '2026-04-06' },
  { description: 'Refund', amount: 0.01, type: 'expense', transaction_date: '2026-04-07' },
  { description: 'Lost', amount: 1, type: 'expense', category_id: 999999 },
] as const;
const bulk = await expectData(
  ledger.POST('/transactions/bulk', { body: { transactions: [...transactions] } }),
);
const [prize, refund, lost] = bulk.data.results;
console.log(`bulk ${prize?.status} ${refund?.status} ${lost?.status} ${lost?.error}`);
const withId = (id = 0) => ({ path: { id } });
const storedPrize = await expectData(
  ledger.GET('/transactions/{id}', { params: withId(prize?.id) }),
);
console.log(`stored ${formatAmount(storedPrize.data.amount)}`);

const filters = {
  type: 'expense',
  category_id: String(food.id),
  start_date: '2026-03-01',
  end_date: '2026-03-31',
} as const;
const otherFilters = {
  external_id: 'bank-1',
  import_id: 'march',
  q: 'boat',
  sort: 'date',
  page: 1,
  per_page: 10,
} as const;
const list = await expectData(
  ledger.GET('/transactions', { params: { query: { ...filters, ...otherFilters } } }),
);
const [first] = list.data;
console.log(
  `every filter: ${list.data.length} of ${list.pagination.total}, ${first?.description} in ${first?.category_name}`,
);
const listAfter = async (after?: string | null) => {
  const query = {
    category_id: 'none',
    sort: '-date',
    per_page: 1,
    ...(after ? { after } : {}),
  } as const;
  return await expectData(ledger.GET('/transactions', { params: { query } }));
};
const newest = await listAfter();
const oldest = await listAfter(newest.pagination.next_cursor);
console.log(
  `uncategorised: ${newest.data[0]?.description}, then ${oldest.data[0]?.description}, then ${oldest.pagination.next_cursor ?? 'none'}`,
);
const searched = await expectData(
  ledger.GET('/transactions/search', {
    params: {
      query: {
        ...filters,
        q: 'boat',
        min_amount: 1,
        max_amount: 99999999.99,
        sort: '-amount',
        page: 1,
        per_page: 10,
      },
    },
  }),
);
console.log(
  `searched: ${searched.pagination.total}, expense ${formatAmount(searched.summary.expense)}`,
);

const ifMatch = { ...withId(boat.id), header: { 'If-Match': boat.etag } };
const changes = { amount: 12345678.92, notes: 'Red' };
const updated = await expectData(
  ledger.PUT('/transactions/{id}', { params: ifMatch, body: changes }),
);
console.log(`updated ${formatAmount(updated.data.amount)} ${updated.data.notes}`);
const refundId = refund?.id ?? 0;
const bulkUpdate = await expectData(
  ledger.PUT('/transactions/bulk', { body: { transactions: [{ id: refundId, amount: 0.02 }] } }),
);
console.log(`bulk update ${bulkUpdate.data.results[0]?.status}`);

const months = await expectData(ledger.GET('/months'));
console.log(
  `months: ${months.data.map(({ month, net }) => `${month} ${formatAmount(Math.abs(net))}`).join(', ')}`,
);
const readGroups = async (group_by: 'category' | 'type' | 'month' | 'year') =>
  (await expectData(ledger.GET('/summary', { params: { query: { group_by } } }))).data.groups;
const [byFood] = await readGroups('category');
console.log(`by category: ${byFood?.name} ${formatAmount(byFood?.expense)}`);
const [income] = await readGroups('type');
console.log(`by type: ${income?.type} ${formatAmount(income?.income)}`);
console.log(`by month: ${(await readGroups('month')).length}`);
const [year] = await readGroups('year');
console.log(`by year: ${year?.period} ${year?.count}`);
const series = await expectData(
  ledger.GET('/summary/series', { params: { query: { group_by: 'category,month' } } }),
);
const [foodSeries] = series.data.groups;
console.log(
  `series: ${series.data.months?.join(' ')}, ${foodSeries?.name} ${foodSeries?.expense.map(formatAmount).join(' ')}`,
);

const march = { start_date: '2026-03-01', end_date: '2026-03-31' };
const part = await expectData(
  ledger.GET('/transactions/export.json', { params: { query: march } }),
);
const isComplete = part.next === null && part.digest === months.data[0]?.digest;
console.log(`export: ${part.data.length}, ${isComplete ? 'complete' : 'incomplete'}`);
const file = await expectData(
  ledger.GET('/transactions/export', { params: { query: { format: 'csv' } }, parseAs: 'text' }),
);
console.log(`file: ${file.trim().split('\n').length} lines`);
const categories = await expectData(
  ledger.GET('/categories', { params: { query: { active_only: true, include_counts: true } } }),
);
console.log(`categories: ${categories.data[0]?.name} ${categories.data[0]?.transaction_count}`);

const invalid = await expectError(
  ledger.POST('/transactions', { body: { ...body, amount: 0.001, external_id: null } }),
);
console.log(
  `${invalid.status} ${invalid.error} ${Object.keys('details' in invalid ? (invalid.details ?? {}) : {})}`,
);
const failures = [
  connect().GET('/months'),
  connect({ authorization: `Bearer ${READ_KEY}` }).POST('/categories', { body: { name: 'Pay' } }),
  ledger.GET('/transactions/{id}', { params: withId(999999) }),
];
for (const failure of failures) {
  const { status, error } = await expectError(failure);
  console.log(`${status} ${error}`);
}
const taken = await expectError(ledger.POST('/categories', { body: { name: 'Food' } }));
const isFood = 'existing_id' in taken && taken.existing_id === food.id;
console.log(`${taken.status} ${taken.error} with ${isFood ? 'Food' : 'another'}`);
for (const failure of [
  ledger.PUT('/transactions/{id}', { params: ifMatch, body: changes }),
  ledger.POST('/transactions', { params: withIdempotencyKey, body: { ...body, amount: 2 } }),
]) {
  const { status, error } = await expectError(failure);
  console.log(`${status} ${error}`);
}

const removal = { transactions: [{ id: refundId }, { id: 999999 }] };
const removed = await expectData(ledger.POST('/transactions/bulk/delete', { body: removal }));
console.log(`bulk delete ${removed.data.results.map(({ status }) => status).join(' ')}`);
await expectData(ledger.DELETE('/transactions/{id}', { params: withId(boat.id) }));
console.log('deleted');
