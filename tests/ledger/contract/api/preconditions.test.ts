// ETag, If-Match and If-None-Match on single records. The unit test of preconditions.ts covers the tags that a header may have.
import { describe, expect, it } from 'vitest';
import { openTestApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, uniqueName } from '../../support/api/records.ts';

const api = await openTestApi();

describe.each([
  ['/transactions', givenTransaction, { amount: 2 }],
  ['/categories', givenCategory, { color: '#fff' }],
])('%s', (resource, createRecord, change) => {
  async function createTestRecord() {
    const path = `${resource}/${(await createRecord(api)).id}`;
    return { path, etag: (await api.get(path)).headers.etag ?? '' };
  }

  const send = (method: string, path: string, headers: Record<string, string>) =>
    api.request(method, path, { headers, ...(method === 'PUT' && { body: change }) });

  it('has an ETag in the responses to POST, GET and PUT, which changes with the record', async () => {
    const { path, etag } = await createTestRecord();
    const { id, created_at: _, updated_at: __, ...body } = (await api.get(path)).body.data;
    const newBody = resource === '/categories' ? { ...body, name: uniqueName() } : body;
    const created = (await api.post(resource, newBody)).headers.etag;
    const updated = (await api.put(path, change)).headers.etag;
    for (const tag of [created, etag, updated])
      expect(tag).toMatch(/^"[tc]\d+\.\d+\.[0-9a-f]{8}"$/);
    expect(updated).not.toBe(etag);
    expect((await api.get(path)).headers.etag).not.toBe(etag);
  });

  it('returns 304 without a body if nothing changed, and 200 after a change', async () => {
    const { path, etag } = await createTestRecord();
    const { status, text } = await send('GET', path, { 'if-none-match': etag });
    expect({ status, text }).toEqual({ status: 304, text: '' });
    await api.put(path, change);
    expect((await send('GET', path, { 'if-none-match': etag })).status).toBe(200);
  });

  it('returns the version that If-Match names, and no other', async () => {
    const { path, etag } = await createTestRecord();
    expect((await send('GET', path, { 'if-match': etag })).status).toBe(200);
    const headers = { 'if-match': etag, 'if-none-match': etag };
    expect((await send('GET', path, headers)).status).toBe(304);
    await api.put(path, change);
    const response = await send('GET', path, headers);
    expect(response).toMatchObject({ status: 412, body: { error: 'precondition_failed' } });
  });

  it.each(['PUT', 'DELETE'])(
    'refuses a %s whose If-None-Match matches the record',
    async (method) => {
      const { path, etag } = await createTestRecord();
      for (const tag of ['*', etag]) {
        const response = await send(method, path, { 'if-none-match': tag });
        expect(response).toMatchObject({ status: 412, body: { error: 'precondition_failed' } });
      }
      expect((await api.get(path)).headers.etag).toBe(etag);
      expect((await send(method, `${resource}/999999999`, { 'if-none-match': '*' })).status).toBe(
        404,
      );
      expect((await send(method, path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  it('has the ETag in the record too, and the address of a new record in Location', async () => {
    const {
      id,
      created_at: _,
      updated_at: __,
      ...body
    } = (await api.get((await createTestRecord()).path)).body.data;
    const newBody = resource === '/categories' ? { ...body, name: uniqueName() } : body;
    const created = await api.post(`${resource}/`, newBody);
    const path = `${resource}/${created.body.data.id}`;
    expect(created.headers.location).toBe(path);
    for (const response of [created, await api.get(path), await api.put(path, change)])
      expect(response.body.data.etag).toBe(response.headers.etag);
  });

  it('changes and deletes the version that If-Match names', async () => {
    const { path, etag } = await createTestRecord();
    const changed = await send('PUT', path, { 'if-match': etag });
    expect(changed.status).toBe(200);
    const headers = { 'if-match': changed.headers.etag ?? '' };
    expect((await send('DELETE', path, headers)).status).toBe(200);
  });

  it.each(['PUT', 'DELETE'])(
    'refuses a %s for another version with 412 and the current ETag',
    async (method) => {
      const { path, etag } = await createTestRecord();
      await api.put(path, change);
      const before = await api.get(path);
      for (const stale of [etag, (await createTestRecord()).etag]) {
        const response = await send(method, path, { 'if-match': stale });
        expect(response).toMatchObject({ status: 412, body: { error: 'precondition_failed' } });
        expect(response.headers.etag).toBe(before.headers.etag);
      }
      expect((await api.get(path)).text).toBe(before.text);
      const headers = { 'if-match': before.headers.etag ?? '' };
      expect((await send(method, path, headers)).status).toBe(200);
    },
  );

  it('lists the ETag of each record, which works for a change and a conditional read', async () => {
    const { path } = await createTestRecord();
    const { transaction_date: date } = (await api.get(path)).body.data;
    // The newest row of a day is the one that was created last.
    const newest = `start_date=${date}&end_date=${date}&per_page=1`;
    const { body } = await api.get(resource, resource === '/transactions' ? newest : '');
    const row = body.data.find(({ id }: { id: number }) => path === `${resource}/${id}`);
    expect((await send('GET', path, { 'if-none-match': row.etag })).status).toBe(304);
    const headers = { 'if-match': row.etag };
    const changed = await api.request('PUT', path, { body: { ...row, ...change }, headers });
    expect(changed.status).toBe(200);
  });

  it('accepts only one of five writers with the same version', async () => {
    const { path, etag } = await createTestRecord();
    const writers = Array.from({ length: 5 }, () => send('PUT', path, { 'if-match': etag }));
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412, 412, 412, 412]);
  });
});

it('a 412, even in a bulk request, has the same ETag as a read of the transaction', async () => {
  const { id: category_id } = await givenCategory(api);
  const { id } = await givenTransaction(api, { category_id });
  const path = `/transactions/${id}`;
  const { etag = '' } = (await api.get(path)).headers;
  const if_match = etag.replace('.1.', '.9.');
  const single = await api.request('DELETE', path, { headers: { 'if-match': if_match } });
  expect([single.status, single.headers.etag]).toEqual([412, etag]);
  const transactions = [{ id, if_match, amount: 3 }];
  const bulk = await api.put('/transactions/bulk', { transactions });
  expect(bulk.body.data.results).toMatchObject([{ status: 412, etag }]);
});

it('renaming or using a category changes the ETags of the records that show it, but not their versions', async () => {
  const { id: category_id } = await givenCategory(api);
  const category = `/categories/${category_id}`;
  const unusedEtag = (await api.get(category)).headers.etag ?? '';
  const transaction = `/transactions/${(await givenTransaction(api, { category_id })).id}`;
  const previousEtag = (await api.get(transaction)).headers.etag ?? '';
  expect((await api.get(category)).headers.etag).not.toBe(unusedEtag);
  const body = { name: uniqueName() };
  const renamed = await api.request('PUT', category, { body, headers: { 'if-match': unusedEtag } });
  expect(renamed.status).toBe(200);
  expect((await api.get(transaction)).headers.etag).not.toBe(previousEtag);
  const headers = { 'if-match': previousEtag };
  expect((await api.request('DELETE', transaction, { headers })).status).toBe(200);
});
