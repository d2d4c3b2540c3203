// `after` and `next_cursor` of lists and searches. tests/ledger/property/cursors.test.ts reads pages while others write.
import type { QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { expectFilterErrors } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenTransaction } from '../support/api/records.ts';

const table = await createTestTable();
const DATES = { start_date: '2026-01-01', end_date: '2026-12-31' };

type Query = Record<string, string | number>;

let api: Api;

beforeAll(async () => {
  api = await openInProcess(createServiceOn({ ...table, ledgerId: 'listed' }));
  for (const day of ['01', '02', '03', '04', '05']) {
    const fields = { transaction_date: `2026-03-${day}`, amount: Number(day) % 2 };
    await givenTransaction(api, { ...fields, external_id: `bank-${day}`, import_id: 'first' });
  }
});

async function read(path: string, query: Query) {
  const { status, body, text } = await api.get(path, query);
  expect(status, text).toBe(200);
  const { next_cursor: next, ...pagination } = body.pagination ?? {};
  return { ids: body.data.map(({ id }: { id: number }) => id), next, pagination };
}

describe.each<[string, Query, number[]]>([
  ['/transactions', {}, [5, 4, 3, 2, 1]],
  ['/transactions', { sort: 'date' }, [1, 2, 3, 4, 5]],
  ['/transactions', { q: 'lunch', ...DATES }, [5, 4, 3, 2, 1]],
  ['/transactions', { import_id: 'first', sort: 'date', ...DATES }, [1, 2, 3, 4, 5]],
  ['/transactions/search', { q: 'lunch' }, [5, 4, 3, 2, 1]],
  ['/transactions/search', { q: 'lunch', sort: 'amount' }, [4, 2, 5, 3, 1]],
])('a list of %s with %j', (path, query, expectedIds) => {
  it('continues from any page with its cursor', async () => {
    const first = await read(path, { ...query, per_page: 2 });
    expect(first.ids).toEqual(expectedIds.slice(0, 2));
    expect(first.pagination).toMatchObject({ page: 1, has_next: true, has_prev: false });
    const second = await read(path, { ...query, per_page: 2, page: 2 });
    const continued = await read(path, { ...query, per_page: 2, after: String(first.next) });
    expect([continued.ids, continued.next]).toEqual([second.ids, second.next]);
    const pages = { per_page: 2, total: 5, pages: 3, has_next: true, has_prev: true };
    expect(continued.pagination).toEqual({ ...pages, page: null });
    const last = await read(path, { ...query, per_page: 2, after: String(continued.next) });
    expect([last.ids, last.next]).toEqual([expectedIds.slice(4), null]);
    expect(last.pagination).toMatchObject({ total: 5, has_next: false, has_prev: true });
  });

  it('has no cursor after a full last page', async () => {
    const { ids, next } = await read(path, { ...query, per_page: 5 });
    expect([ids, next]).toEqual([expectedIds, null]);
    expect((await read(path, { ...query, page: 9 })).next).toBeNull();
  });

  it('refuses a page number with a cursor, and anything that is not a cursor', async () => {
    const { next } = await read(path, { ...query, per_page: 2 });
    const requestWith = (parameters: Query) => api.get(path, { ...query, ...parameters });
    expectFilterErrors(await requestWith({ after: String(next), page: 2 }), ['after']);
    const cursor = (text: string) => Buffer.from(text).toString('base64url');
    const invalid = ['', 'x', `${next}!`, `${next}\n`, `${next}=`];
    for (const after of [...invalid, cursor('2026-02-30 0 1 1'), cursor('2026-03-05 0 1')]) {
      expectFilterErrors(await requestWith({ after }), ['after']);
    }
  });
});

it('a list by external id has one page', async () => {
  const { ids, next } = await read('/transactions', { external_id: 'bank-03', per_page: 1 });
  expect([ids, next]).toEqual([[3], null]);
});

it('a cursor works with other dates, and leads to no row outside them', async () => {
  const { next } = await read('/transactions', { per_page: 2 });
  const rangeBeforeCursor = { end_date: '2026-03-02', after: String(next) };
  expect((await read('/transactions', rangeBeforeCursor)).ids).toEqual([2, 1]);
  const rangeAfterCursor = { start_date: '2026-03-05', after: String(next) };
  expect((await read('/transactions', rangeAfterCursor)).ids).toEqual([]);
  const { next: second } = await read('/transactions', { sort: 'date', per_page: 2 });
  const skipped = { sort: 'date', start_date: '2026-03-04', after: String(second) };
  expect((await read('/transactions', skipped)).ids).toEqual([4, 5]);
});

describe('a cursor works only with the order of its page', () => {
  const DATED = ['date', '-date'];
  const orders = [
    ...DATED.map((sort) => ['/transactions', sort, DATED] as const),
    ...[...DATED, 'amount', '-amount'].map(
      (sort) => ['/transactions/search', sort, [...DATED, 'amount', '-amount']] as const,
    ),
  ];

  it.each(orders)('%s sort=%s', async (path, sort, allSorts) => {
    const query = { per_page: 2, ...(path.endsWith('search') && { min_amount: 0 }) };
    const { next } = await read(path, { ...query, sort });
    for (const otherSort of allSorts) {
      const response = await api.get(path, { ...query, sort: otherSort, after: String(next) });
      if (otherSort === sort) expect(response.status).toBe(200);
      else {
        expectFilterErrors(response, ['after']);
        expect(response.body.details?.after?.[0]).toContain(`sort=${sort}`);
      }
    }
    const unsorted = await api.get(path, { ...query, after: String(next) });
    expect(unsorted.status).toBe(sort === '-date' ? 200 : 400);
  });
});

it.each(['date', '-date'])(
  'counts that lag behind do not end the pages early: sort=%s',
  async (sort) => {
    // The counts are read from another partition, which is empty.
    const client = interpose(table.client, (name, commandInput) => {
      const input = commandInput as QueryCommandInput;
      if (name !== 'QueryCommand' || input.IndexName !== undefined) return;
      const values = { ...input.ExpressionAttributeValues, ':partition': { S: 'none' } };
      input.ExpressionAttributeValues = values;
    });
    const lagging = await openInProcess(createServiceOn({ ...table, client, ledgerId: 'listed' }));
    const listedIds: number[] = [];
    let after: unknown;
    do {
      const position = typeof after === 'string' ? { after } : {};
      const { body } = await lagging.get('/transactions', { sort, per_page: 2, ...position });
      listedIds.push(...body.data.map(({ id }: { id: number }) => id));
      after = body.pagination?.next_cursor;
    } while (after !== null);
    expect(listedIds.toSorted()).toEqual([1, 2, 3, 4, 5]);
  },
);
