// ETag, If-Match and If-None-Match on single records.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../support/api/open-api.ts';

const api = await openApi();

async function newCategory() {
  const { body } = await api.post('/categories', { name: randomUUID() });
  return body.data.id as number;
}

const RECORDS = [
  [
    '/transactions',
    async () => ({ description: 'Lunch', amount: 1, type: 'expense' }),
    { amount: 2 },
  ],
  ['/categories', async () => ({ name: randomUUID() }), { color: '#fff' }],
] as const;

describe.each(RECORDS)('%s', (resource, newBody, change) => {
  async function newRecord() {
    const created = await api.post(resource, await newBody());
    return { path: `${resource}/${created.body.data.id}`, etag: created.headers.etag ?? '' };
  }

  it('has an ETag in the response to POST, GET and PUT that changes with the record', async () => {
    const { path, etag } = await newRecord();
    const read = (await api.get(path)).headers.etag;
    const updated = (await api.put(path, change)).headers.etag;
    for (const tag of [etag, read, updated]) expect(tag).toMatch(/^"[tc]\d+\.\d+\.[0-9a-f]{8}"$/);
    expect(updated).not.toBe(read);
    expect((await api.get(path)).headers.etag).not.toBe(read);
  });

  it('answers 304 without a body where nothing changed, and 200 after a change', async () => {
    const { path } = await newRecord();
    const { etag = '' } = (await api.get(path)).headers;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await api.request('GET', path, { headers: { 'if-none-match': known } });
      expect({ status: reply.status, text: reply.text }).toEqual({ status: 304, text: '' });
    }
    await api.put(path, change);
    const reply = await api.request('GET', path, { headers: { 'if-none-match': etag } });
    expect(reply.status).toBe(200);
  });

  it('changes and deletes the version that If-Match names', async () => {
    const { path, etag } = await newRecord();
    const changed = await api.request('PUT', path, { body: change, headers: { 'if-match': etag } });
    expect(changed.status).toBe(200);
    const headers = { 'if-match': changed.headers.etag ?? '' };
    expect((await api.request('DELETE', path, { headers })).status).toBe(200);
  });

  it.each(['PUT', 'DELETE'])('refuses a %s for another version with 412', async (method) => {
    const { path, etag } = await newRecord();
    await api.put(path, change);
    const before = await api.get(path);
    const other = (await newRecord()).etag;
    for (const stale of [etag, other, '"0"', '"2.00000000"']) {
      const reply = await api.request(method, path, {
        headers: { 'if-match': stale },
        ...(method === 'PUT' ? { body: change } : {}),
      });
      expect(reply).toMatchObject({ status: 412, body: { error: 'precondition_failed' } });
    }
    expect((await api.get(path)).text).toBe(before.text);
  });

  it.each(['GET', 'PUT', 'DELETE'])(
    'refuses a %s with a malformed tag with 400',
    async (method) => {
      const { path, etag } = await newRecord();
      const header = method === 'GET' ? 'if-none-match' : 'if-match';
      for (const malformed of ['', etag.slice(1)]) {
        const reply = await api.request(method, path, {
          headers: { [header]: malformed },
          ...(method === 'PUT' ? { body: change } : {}),
        });
        expect(reply).toMatchObject({ status: 400, body: { error: 'validation_failed' } });
      }
      expect((await api.get(path)).headers.etag).toBe(etag);
    },
  );

  it('carries the ETag of each record in a list, which a change takes and a read knows', async () => {
    const { path } = await newRecord();
    const { transaction_date: date } = (await api.get(path)).body.data;
    // The newest of its day is the one that was made last.
    const newest = `start_date=${date}&end_date=${date}&per_page=1`;
    const { body } = await api.get(resource, resource === '/transactions' ? newest : '');
    const row = body.data.find(({ id }: { id: number }) => path === `${resource}/${id}`);
    const read = await api.request('GET', path, { headers: { 'if-none-match': row.etag } });
    expect(read.status).toBe(304);
    const headers = { 'if-match': row.etag };
    const changed = await api.request('PUT', path, { body: { ...row, ...change }, headers });
    expect(changed.status).toBe(200);
  });

  it('lets one of five writers with the same version through', async () => {
    const { path, etag } = await newRecord();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () =>
        api.request('PUT', path, { body: change, headers: { 'if-match': etag } }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
  });
});

it('changes the ETag of a transaction with the name of its category', async () => {
  const id = await newCategory();
  const body = { description: 'Lunch', amount: 1, type: 'expense', category_id: id };
  const created = await api.post('/transactions', body);
  const path = `/transactions/${created.body.data.id}`;
  const { etag } = (await api.get(path)).headers;
  await api.put(`/categories/${id}`, { name: randomUUID() });
  expect((await api.get(path)).headers.etag).not.toBe(etag);
  // The transaction itself has not changed.
  const headers = { 'if-match': etag ?? '' };
  expect((await api.request('DELETE', path, { headers })).status).toBe(200);
});

it('changes the ETag of a category with the number of its transactions, but not its version', async () => {
  const id = await newCategory();
  const { etag = '' } = (await api.get(`/categories/${id}`)).headers;
  await api.post('/transactions', {
    description: 'x',
    amount: 1,
    type: 'expense',
    category_id: id,
  });
  expect((await api.get(`/categories/${id}`)).headers.etag).not.toBe(etag);
  const headers = { 'if-match': etag };
  const body = { color: '#000' };
  expect((await api.request('PUT', `/categories/${id}`, { body, headers })).status).toBe(200);
});
