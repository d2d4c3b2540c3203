// A search caches the months that it reads, and reads a month again unless the month's digest proves that the cache is current.
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { createMeteredClient } from '../../../bench/ledger/metered-client.ts';
import { createKeys, toYearKey } from '../../../lib/ledger/store/keys.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { type Api, withVerbs } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenTransaction } from '../support/api/records.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { createLaggingTable } from '../support/lagging-table.ts';

const MARCH = { start_date: '2026-03-01', end_date: '2026-03-31' };
const YEAR = { start_date: '2026-01-01', end_date: '2026-12-31' };

function createRow(api: Api, month: string, description = 'market') {
  return givenTransaction(api, { description, transaction_date: `${month}-05` });
}

async function search(api: Api, query: Record<string, string> = YEAR): Promise<string[]> {
  const { body } = await api.get('/transactions/search', { q: 'market', ...query });
  expect(body.pagination?.total).toBe(body.summary?.count);
  return body.data.map(
    (row: { transaction_date: string; description: string }) =>
      `${row.transaction_date.slice(0, 7)} ${row.description}`,
  );
}

it('a search reads only the months that changed', async () => {
  const table = await createTestTable();
  const client = createMeteredClient(table.client);
  const api = await openInProcess(createServiceOn({ ...table, client }));
  const measure = async (query?: Record<string, string>) => {
    const { result, cost } = await client.measure(() => search(api, query));
    return { found: result, calls: cost.calls };
  };
  for (const month of ['2026-01', '2026-02', '2026-04']) await createRow(api, month);
  await givenTransaction(api, {
    ...{ description: 'market income', type: 'income', transaction_date: '2026-02-10' },
  });
  const uncached = await measure();
  const february = { start_date: '2026-02-01', end_date: '2026-02-28' };
  const inFebruary = ['2026-02 market income', '2026-02 market'];
  const inYear = ['2026-04 market', ...inFebruary, '2026-01 market'];
  expect(uncached.found).toEqual(inYear);
  expect(await measure(february)).toEqual({ found: inFebruary, calls: uncached.calls - 1 });
  // Dates between cached months are read, because an index may be ahead of the counts.
  expect((await measure()).found).toEqual(inYear);
  // A part of a month is neither taken from the cache nor cached as a whole month. The same holds for the rows of one type.
  const partOfYear = { start_date: '2026-02-06', end_date: '2026-03-31' };
  expect((await measure(partOfYear)).found).toEqual(inFebruary.slice(0, 1));
  expect((await measure({ ...february, type: 'expense' })).found).toEqual(inFebruary.slice(1));
  expect(await measure(february)).toEqual({ found: inFebruary, calls: uncached.calls - 1 });

  const changed = await createRow(api, '2026-02', 'other market');
  const withOther = ['2026-02 market income', '2026-02 other market', '2026-02 market'];
  expect(await measure(february)).toEqual({ found: withOther, calls: uncached.calls });
  expect(await measure(february)).toEqual({ found: withOther, calls: uncached.calls - 1 });
  await api.put(`/transactions/${changed.id}`, { description: 'no match' });
  expect((await measure(february)).found).toEqual(inFebruary);
  await api.delete(`/transactions/${changed.id}`);
  expect((await measure()).found).toEqual(inYear);
});

it('rows of a lagging index do not stay in the cache', async () => {
  const table = await createLaggingTable();
  const api = await openInProcess(createServiceOn(table));
  const row = await createRow(api, '2026-03');
  expect(await search(api)).toEqual([]);
  await table.propagate(() => true);
  expect(await search(api)).toEqual(['2026-03 market']);
  await api.put(`/transactions/${row.id}`, { description: 'new market' });
  // The index still shows the old version of the row. The search may cache that version, but must not mistake it for the new version.
  expect(await search(api)).toEqual(['2026-03 market']);
  await table.propagate(() => true);
  expect(await search(api)).toEqual(['2026-03 new market']);
  await api.delete(`/transactions/${row.id}`);
  await search(api);
  await table.propagate(() => true);
  expect(await search(api)).toEqual([]);
});

it('a search does not rely on the digest of an incomplete month', async () => {
  const table = { ...(await createTestTable()), ledgerId: 'older' };
  const api = await openInProcess(createServiceOn(table));
  await createRow(api, '2026-03');
  const keys = createKeys(table.ledgerId);
  await table.client.send(
    new UpdateCommand({
      TableName: table.tableName,
      Key: { pk: keys.days(), sk: toYearKey('2026') },
      UpdateExpression: 'REMOVE d3',
    }),
  );
  expect(await search(api)).toEqual(['2026-03 market']);
  await createRow(api, '2026-03', 'second market');
  expect(await search(api)).toEqual(['2026-03 second market', '2026-03 market']);
  expect(await search(api)).toEqual(['2026-03 second market', '2026-03 market']);
});

/** Caches a month with one row, and adds another row as an earlier release does, which updates the counts but not the digest. */
async function givenRowOfEarlierRelease(row: object): Promise<Api> {
  const table = { ...(await createTestTable()), ledgerId: 'beside-older' };
  const api = await openInProcess(createServiceOn(table));
  await createRow(api, '2026-03');
  const { tableName: TableName } = table;
  const Key = { pk: createKeys(table.ledgerId).days(), sk: toYearKey('2026') };
  const { Item } = await table.client.send(new GetCommand({ TableName, Key }));
  expect(await search(api)).toEqual(['2026-03 market']);
  const added = { description: 'second market', transaction_date: '2026-03-05', ...row };
  await givenTransaction(api, added);
  await table.client.send(
    new UpdateCommand({
      ...{ TableName, Key, UpdateExpression: 'SET d3 = :before' },
      ExpressionAttributeValues: { ':before': Item?.d3 },
    }),
  );
  return api;
}

it('a month to which an earlier release added a row does not count as complete', async () => {
  const api = await givenRowOfEarlierRelease({});
  expect(await search(api)).toEqual(['2026-03 second market', '2026-03 market']);
});

it.each([
  ['other dates', { transaction_date: '2026-03-20' }, { ...YEAR, start_date: '2026-03-06' }],
  ['the other type', { type: 'income' }, { ...YEAR, type: 'income' }],
])('a search reads rows of %s even if the cached month has as many rows', async (_, row, query) => {
  const api = await givenRowOfEarlierRelease(row);
  expect(await search(api, query)).toEqual(['2026-03 second market']);
});

it('each ledger has its own cached months', async () => {
  const table = await createTestTable();
  const client = createMeteredClient(table.client);
  const api = await openInProcess(createServiceOn({ ...table, client, ledgerId: undefined }));
  const callers = await Promise.all(
    ['alice', 'bob'].map(async (ledger) => {
      const { secret } = await createTestKeys(table).create({
        name: 'test',
        ledger,
        scope: 'write',
      });
      const headers = { authorization: `Bearer ${secret}` };
      const request: Api['request'] = (method, path, options) =>
        api.request(method, path, { ...options, headers });
      return withVerbs({ request, close: api.close });
    }),
  );
  // The ledgers have the same ids, months and numbers of rows, so only their names distinguish their cached months.
  for (const [n, caller] of callers.entries()) await createRow(caller, '2026-03', `market ${n}`);
  const searchBoth = () =>
    client.measure(async () => {
      for (const [n, caller] of callers.entries())
        expect(await search(caller, MARCH)).toEqual([`2026-03 market ${n}`]);
    });
  const first = await searchBoth();
  expect((await searchBoth()).cost.calls).toBe(first.cost.calls - callers.length);
});
