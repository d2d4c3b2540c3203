// GET /months and the digest of a month's export: a client with a copy learns what has changed, including deletions.

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeys, toYearKey } from '../../../lib/ledger/store/keys.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { expectFilterErrors } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../support/api/records.ts';
import { bulkLoad } from '../support/bulk-loader.ts';
import { createStoredTransaction } from '../support/stored-records.ts';

const table = await createTestTable();
const MARCH = { start_date: '2026-03-01', end_date: '2026-03-31' };

let ledgerCount = 0;
let ledgerId = '';
let api: Api;

beforeEach(async () => {
  ledgerCount += 1;
  ledgerId = `months-${ledgerCount}`;
  api = await openInProcess(createServiceOn({ ...table, ledgerId }));
});

const create = (transaction_date: string, fields: object = {}) =>
  givenTransaction(api, { transaction_date, ...fields });

async function readMonths(query: Record<string, string> = {}) {
  const { status, body, headers } = await api.get('/months', query);
  expect(status).toBe(200);
  return {
    ...(body as { data: { month: string; digest: string | null }[]; digest?: string }),
    etag: headers.etag,
  };
}

async function exportMonth(client: Api, query: object = MARCH): Promise<string | null | undefined> {
  let next: string | null | undefined = new URLSearchParams({ ...query }).toString();
  let digest: string | null | undefined;
  while (typeof next === 'string') {
    expect(digest).toBeUndefined();
    const { body } = await client.get('/transactions/export.json', next);
    next = body.next;
    digest = (body as { digest?: string | null }).digest;
  }
  return digest;
}

it('GET /months lists each month with transactions, oldest first, with all its figures', async () => {
  await create('2026-03-31', { amount: 2.5 });
  await create('2026-03-01', { amount: 10, type: 'income' });
  await create('2025-12-05', { amount: 1 });
  const { data, digest } = await readMonths();
  expect(data).toEqual([
    { month: '2025-12', income: 0, expense: 1, net: -1, count: 1, digest: expect.any(String) },
    { month: '2026-03', income: 10, expense: 2.5, net: 7.5, count: 2, digest: expect.any(String) },
  ]);
  expect(digest).toEqual(expect.any(String));
  expect((await readMonths({ start_date: '2026-03-31' })).data).toEqual(data.slice(1));
  expect((await readMonths({ end_date: '2026-02-28' })).data).toEqual(data.slice(0, 1));
  expect((await readMonths({ start_date: '2026-03-02', end_date: '2026-03-01' })).data).toEqual([]);
  expectFilterErrors(await api.get('/months', { type: 'income', end_date: 'x' }), [
    'end_date',
    'type',
  ]);
});

it('the digest changes with every write, and never without one', async () => {
  const { id: category_id } = await givenCategory(api);
  const { id } = await create('2026-03-05');
  const { id: other } = await create('2026-03-05');
  const digests = new Set<string>();
  const recordDigests = async () => {
    const { data, digest } = await readMonths();
    expect(await exportMonth(api)).toBe(data.find(({ month }) => month === '2026-03')?.digest);
    digests.add(`${data.map((each) => each.digest)} ${digest}`);
  };
  const changes = [
    { notes: 'Milk' },
    { notes: 'Milk' },
    { description: 'Tea' },
    { amount: 3 },
    { type: 'income' },
    { category_id },
    { external_id: 'bank-1' },
    { transaction_date: '2026-03-06' },
    { transaction_date: '2026-04-01' },
  ];
  await recordDigests();
  for (const change of changes) {
    expect((await api.put(`/transactions/${id}`, change)).status).toBe(200);
    await recordDigests();
  }
  await api.put('/transactions/bulk', {
    transactions: [id, other].map((each) => ({ id: each, notes: 'Two' })),
  });
  await recordDigests();
  await api.post('/transactions/bulk', {
    transactions: [{ description: 'A', amount: 1, type: 'income', transaction_date: '2026-03-09' }],
  });
  await recordDigests();
  await api.delete(`/transactions/${other}`);
  await recordDigests();
  await api.post('/transactions/bulk/delete', { transactions: [{ id }] });
  await recordDigests();
  expect(digests.size).toBe(changes.length + 5);
  expect((await createVerification({ ...table, ledgerId }).verify()).drifts).toEqual([]);
});

it('a repeated request leaves the months unchanged', async () => {
  const send = () =>
    api.request('POST', '/transactions', {
      body: { description: 'A', amount: 1, type: 'income', transaction_date: '2026-03-09' },
      headers: { 'idempotency-key': 'once' },
    });
  await send();
  const afterFirst = await readMonths();
  await send();
  expect(await readMonths()).toEqual(afterFirst);
});

it('GET /months returns 304 until something changes', async () => {
  const { id } = await create('2026-03-05');
  const { etag = '' } = await readMonths();
  const request = () => api.request('GET', '/months', { headers: { 'if-none-match': etag } });
  expect((await request()).status).toBe(304);
  await api.put(`/transactions/${id}`, { notes: 'Milk' });
  expect((await request()).status).toBe(200);
});

it('GET /months lists 1,200 months, and refuses more with advice about the dates', async () => {
  const rows = Array.from({ length: 1_201 }, (_, n) => {
    const [year, month] = [1_926 + Math.floor(n / 12), (n % 12) + 1];
    return createStoredTransaction(n + 1, { date: `${year}-${String(month).padStart(2, '0')}-01` });
  });
  await bulkLoad({ ...table, ledgerId }, [], rows);
  const { data } = await readMonths({ end_date: '2025-12-31' });
  expect([data.length, data.at(-1)?.month]).toEqual([1_200, '2025-12']);
  const response = await api.get('/months');
  expectFilterErrors(response, ['start_date', 'end_date']);
  expect(response.body.details?.start_date).toEqual([
    'One response has at most 1200 months; these dates have 1201: narrow the dates.',
  ]);
});

describe('an export', () => {
  it('has the digest of all its parts in its last part', async () => {
    for (const day of ['01', '05', '05', '31']) await create(`2026-03-${day}`);
    await create('2026-04-01');
    // Ends each query of an index after two rows, as DynamoDB does after 1 MB.
    const client = interpose(table.client, (name, commandInput) => {
      const input = commandInput as { IndexName?: string; Limit?: number };
      if (name === 'QueryCommand' && input.IndexName !== undefined) input.Limit = 2;
    });
    const smallPartsApi = await openInProcess(createServiceOn({ ...table, client, ledgerId }));
    const [march] = (await readMonths()).data;
    expect(march?.month).toBe('2026-03');
    expect(await exportMonth(smallPartsApi)).toBe(march?.digest);
    const first = await smallPartsApi.get('/transactions/export.json', MARCH);
    expect(Object.keys(first.body)).toEqual(['success', 'data', 'next']);
  });

  it('has no digest unless it is exactly one whole month', async () => {
    await create('2026-03-05');
    for (const query of [
      {},
      { ...MARCH, end_date: '2026-03-30' },
      { ...MARCH, end_date: '2026-04-30' },
      { ...MARCH, start_date: '2026-03-02' },
      { ...MARCH, type: 'expense' },
      { ...MARCH, q: 'lunch' },
    ]) {
      expect(await exportMonth(api, query), JSON.stringify(query)).toBeUndefined();
    }
    expect(await exportMonth(api, { start_date: '2024-02-01', end_date: '2024-02-29' })).toBe('0');
  });
});

it('the digest is null for the rows of an earlier release until a repair computes it', async () => {
  const { id } = await create('2026-03-05');
  const { id: second } = await create('2026-03-06');
  await create('2026-04-05');
  const before = await readMonths();
  // Removes the digest, as in the data of an earlier release.
  await table.client.send(
    new UpdateCommand({
      TableName: table.tableName,
      Key: { pk: createKeys(ledgerId).days(), sk: toYearKey('2026') },
      UpdateExpression: 'REMOVE d3',
    }),
  );
  const expectNoDigest = async () => {
    const { data, digest } = await readMonths();
    expect([data[0]?.digest, data[1]?.digest, digest]).toEqual([
      null,
      before.data[1]?.digest,
      null,
    ]);
    expect(await exportMonth(api)).toBeNull();
  };
  await expectNoDigest();
  await create('2026-03-07');
  await api.put(`/transactions/${id}`, { notes: 'Milk' });
  await api.delete(`/transactions/${second}`);
  await expectNoDigest();
  const { repaired, verdict } = await createVerification({ ...table, ledgerId }).repair();
  expect(repaired.map(({ what }) => what)).toEqual(['month digests']);
  expect(verdict.drifts).toEqual([]);
  const { data } = await readMonths();
  expect(await exportMonth(api)).toBe(data[0]?.digest);
  expect(data[0]?.digest).toEqual(expect.any(String));
});
