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
    for (const tag of [etag, read, updated]) expect(tag).toMatch(/^"\d+\.[0-9a-f]{8}"$/);
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
    for (const stale of [etag, '"0"', '', 'W/"2.00000000"', 'x']) {
      const reply = await api.request(method, path, {
        headers: { 'if-match': stale },
        ...(method === 'PUT' ? { body: change } : {}),
      });
      expect(reply).toMatchObject({ status: 412, body: { error: 'precondition_failed' } });
    }
    expect((await api.get(path)).text).toBe(before.text);
  });

  it('takes * for every version', async () => {
    const { path } = await newRecord();
    const headers = { 'if-match': '*' };
    expect((await api.request('PUT', path, { body: change, headers })).status).toBe(200);
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
