// An export takes a month from the cache if the month's digest proves that the cached rows are current; it reads other months.
import { expect, it } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../../cli/seeded-random.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { SEED, scaleCases } from '../../shared/support/seed.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenTransaction } from '../support/api/records.ts';
import { createLaggingTable } from '../support/lagging-table.ts';

const ROWS_PER_QUERY = 3;

interface Row {
  readonly id: number;
  readonly transaction_date: string;
  readonly created_at: string;
}

async function open({ minRowsPerQuery = 1, maxRowsPerQuery = 100 } = {}) {
  const table = await createTestTable();
  let queries = 0;
  let calls = 0;
  // Ends each query of an index after three rows, as DynamoDB does after 1 MB.
  const client = interpose(table.client, (name, input: { IndexName?: string; Limit?: number }) => {
    calls += 1;
    if (name !== 'QueryCommand' || input.IndexName === undefined) return;
    input.Limit = ROWS_PER_QUERY;
    queries += 1;
  });
  const partLimits = { maxRows: 4_000, minRowsPerQuery, maxRowsPerQuery };
  const api = await openInProcess(createServiceOn({ ...table, client, partLimits }));
  const measure = async (query?: string) => {
    queries = 0;
    const parts = await Array.fromAsync(exportParts(api, query));
    return { ids: parts.flat().map(({ id }) => id), parts: parts.length, queries };
  };
  const countCalls = async (query: string) => {
    calls = 0;
    await measure(query);
    return calls;
  };
  return { api, measure, countCalls };
}

async function* exportParts(api: Api, query = ''): AsyncGenerator<Row[]> {
  for (let next: string | null = query; next !== null; ) {
    const { status, body } = await api.get('/transactions/export.json', next);
    expect(status).toBe(200);
    next = body.next ?? null;
    yield body.data;
  }
}

function createRow(api: Api, date: string, fields: object = {}): Promise<Row> {
  return givenTransaction(api, { transaction_date: date, ...fields }) as Promise<Row>;
}

it('an export reads the months that changed, and takes the others from the cache', async () => {
  const { api, measure } = await open();
  const ids: number[] = [];
  for (const month of [1, 2, 3, 5, 6]) {
    for (const day of ['04', '20']) ids.push((await createRow(api, `2026-0${month}-${day}`)).id);
  }
  const first = await measure();
  expect(first).toEqual({ ids, parts: 4, queries: 4 });
  // Queries ended in February, March and June, so these months are not cached yet, and are read again.
  expect(await measure()).toEqual({ ids, parts: 2, queries: 5 });
  // The dates outside the cached months are still queried, because an index may be ahead of the counts.
  expect(await measure()).toEqual({ ids, parts: 1, queries: 3 });

  await api.put(`/transactions/${ids[3]}`, { notes: 'Note' });
  expect(await measure()).toEqual({ ids, parts: 1, queries: 4 });
  const added = await createRow(api, '2026-02-10');
  expect((await measure()).ids).toEqual(ids.toSpliced(3, 0, added.id));
  await api.delete(`/transactions/${added.id}`);
  await api.put(`/transactions/${ids[3]}`, { transaction_date: '2026-03-31' });
  expect((await measure()).ids).toEqual([
    ...ids.slice(0, 3),
    ...ids.slice(4, 6),
    ids[3],
    ...ids.slice(6),
  ]);
});

it.each(['', 'type=expense'])(
  'one part of an export with the query "%s" splits its dates into several queries',
  async (query) => {
    const { api, measure } = await open({ maxRowsPerQuery: 2 });
    const ids: number[] = [];
    for (const month of [1, 2, 4, 9]) {
      for (const day of ['04', '20']) ids.push((await createRow(api, `2026-0${month}-${day}`)).id);
    }
    // One of the queries is for the dates before the first month, which the counts may not include yet.
    expect(await measure(query)).toEqual({ ids, parts: 1, queries: 4 });
  },
);

it('few rows between many gaps are read again, with one query', async () => {
  const { api, measure } = await open({ minRowsPerQuery: 2 });
  const ids: number[] = [];
  for (const month of [1, 3, 5]) ids.push((await createRow(api, `2026-0${month}-04`)).id);
  const first = await measure();
  expect(first).toMatchObject({ ids, queries: 2 });
  expect(await measure()).toEqual(first);
  expect(await measure()).toEqual(first);
  // There are enough cached rows to justify one more query, for the rows before and after them.
  for (const month of [2, 4]) await createRow(api, `2026-0${month}-04`);
  await measure();
  await measure();
  expect(await measure()).toMatchObject({ parts: 1, queries: 2 });
});

it('a month that is split between two parts is not cached', async () => {
  const { api, countCalls } = await open();
  for (const day of ['04', '05', '06', '07']) await createRow(api, `2026-01-${day}`);
  const january = 'start_date=2026-01-01&end_date=2026-01-31';
  const calls = await countCalls(january);
  // With the month in the cache, each part would have to read the counts as well.
  expect(await countCalls(january)).toBe(calls);
});

it('an export has only the requested dates and type, with and without a cache', async () => {
  const { api, measure } = await open();
  const [early, late, income, march] = await Promise.all([
    createRow(api, '2026-02-03'),
    createRow(api, '2026-02-20'),
    createRow(api, '2026-02-21', { type: 'income' }),
    createRow(api, '2026-03-01'),
  ]);
  // A search caches the rows of a month newest first.
  const year = { start_date: '2026-01-01', end_date: '2026-12-31' };
  await api.get('/transactions/search', { q: 'any', ...year });
  const all = await measure();
  expect(all).toMatchObject({ ids: [early.id, late.id, income.id, march.id], parts: 1 });
  const february = 'start_date=2026-02-01&end_date=2026-02-28';
  expect((await measure(`${february}&type=expense`)).ids).toEqual([early.id, late.id]);
  // The cache did not keep the rows of one type as if they were the whole month.
  expect(await measure()).toEqual(all);
  for (const _ of [1, 2]) {
    expect((await measure(february)).ids).toEqual([early.id, late.id, income.id]);
    expect((await measure()).ids).toEqual([early.id, late.id, income.id, march.id]);
    expect((await measure('start_date=2026-02-06')).ids).toEqual([late.id, income.id, march.id]);
    expect((await measure('end_date=2026-02-06')).ids).toEqual([early.id]);
    expect((await measure(`${february}&type=income`)).ids).toEqual([income.id]);
  }
});

it('rows of a lagging index do not stay in the cache', async () => {
  const table = await createLaggingTable();
  const api = await openInProcess(createServiceOn(table));
  const listDescriptions = async () =>
    (await Array.fromAsync(exportParts(api)))
      .flat()
      .map((row) => (row as Row & { description: string }).description);
  const { id } = await createRow(api, '2026-03-05', { description: 'old' });
  await table.propagate(() => true);
  expect(await listDescriptions()).toEqual(['old']);
  await api.put(`/transactions/${id}`, { description: 'new' });
  expect(await listDescriptions()).toEqual(['old']);
  await table.propagate(() => true);
  expect(await listDescriptions()).toEqual(['new']);
  await api.delete(`/transactions/${id}`);
  await table.propagate(() => true);
  expect(await listDescriptions()).toEqual([]);
});

it('an export has each unchanged row once, in order, whatever other clients write between its parts', async () => {
  const { api } = await open();
  const random = createSeededRandom(SEED);
  for (let n = 0; n < 30; n += 1) await createRow(api, pickDate(random));
  for (let round = 0; round < scaleCases(100); round += 1) {
    const touched = new Set<number>();
    const exported: Row[] = [];
    for await (const part of exportParts(api)) {
      exported.push(...part);
      if (random.chance(0.5)) touched.add(await writeRandomly(api, random));
    }
    const pickUntouched = (rows: readonly Row[]) => rows.filter(({ id }) => !touched.has(id));
    const { body } = await api.get('/transactions', { sort: 'date', per_page: 100 });
    expect(pickUntouched(exported)).toEqual(pickUntouched(body.data));
  }
});

function pickDate(random: SeededRandom): string {
  return `2026-0${random.integer(1, 9)}-1${random.integer(0, 3)}`;
}

/** @returns the id of the row that it created, changed or deleted */
async function writeRandomly(api: Api, random: SeededRandom): Promise<number> {
  const { body } = await api.get('/transactions', { per_page: 100 });
  const row: Row | undefined = body.data[random.integer(0, body.data.length)];
  if (row === undefined || body.data.length < 20)
    return (await createRow(api, pickDate(random))).id;
  if (random.chance(0.5)) await api.delete(`/transactions/${row.id}`);
  else await api.put(`/transactions/${row.id}`, { transaction_date: pickDate(random) });
  return row.id;
}
