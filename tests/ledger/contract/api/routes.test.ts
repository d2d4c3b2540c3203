// Routes: trailing slashes, unknown routes, and unknown ids in the path.
import { describe, expect, test } from 'vitest';
import { expectFailure, expectNotFound, expectRefusal } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { givenTransaction, LUNCH, UNKNOWN_ID, uniqueName } from '../../support/api/records.ts';
import { isPage, OPERATIONS } from '../../support/api/routes.ts';

const api = await openTestApi();

describe.each(['', '/'])('all operations accept %j at the end of the path', (slash) => {
  test.each([
    ['/transactions', () => LUNCH, { amount: 1 }],
    ['/categories', () => ({ name: uniqueName() }), { color: '#abc' }],
  ])('%s', async (resource, newBody, change) => {
    const created = await api.post(resource + slash, newBody());
    expect(created.status).toBe(201);
    expect((await api.get(resource + slash)).body.success).toBe(true);
    const path = `${resource}/${created.body.data.id}${slash}`;
    expect((await api.get(path)).body.data).toMatchObject(created.body.data);
    expect((await api.put(path, change)).body.data).toMatchObject(change);
    expect((await api.delete(path)).status).toBe(200);
  });

  test('POST, PUT /transactions/bulk, POST /transactions/bulk/delete', async () => {
    const created = await api.post(`/transactions/bulk${slash}`, { transactions: [LUNCH, LUNCH] });
    const rows: { id: number; etag: string }[] = created.body.data.results;
    const changes = rows.map(({ id, etag }) => ({ id, if_match: etag, notes: 'Note' }));
    const changed = await api.put(`/transactions/bulk${slash}`, { transactions: changes });
    expect(changed.body.data).toMatchObject({ updated: 2, failed: 0 });
    const removals = rows.map(({ id }) => ({ id }));
    const path = `/transactions/bulk/delete${slash}`;
    const removed = await api.post(path, { transactions: removals });
    expect(removed.body.data).toMatchObject({ deleted: 2, failed: 0 });
  });

  test('GET /transactions/export, /summary, /me', async () => {
    const part = await api.get(`/transactions/export${slash}`, { format: 'json', q: 'nothing' });
    expect(part.body).toMatchObject({ success: true, data: [] });
    const { transaction_date: date } = await givenTransaction(api);
    // A shared ledger may have rows in more months than one response can name, so the request is for one day.
    const today = { start_date: date, end_date: date, group_by: 'type,month' };
    const { body } = await api.get(`/summary${slash}`, today);
    expect(body.data.groups[0].income).toHaveLength(body.data.months.length);
    expect((await api.get(`/me${slash}`)).body.data).toMatchObject({ scope: 'write' });
  });

  test('GET /health', async () => {
    expect((await api.get(`/health${slash}`)).body.data).toEqual({ status: 'ok' });
  });
});

test.each(['deep', 'deep=true', 'deep=1'])('GET /health?%s checks the table', async (query) => {
  const { status, body } = await api.get('/health', query);
  expect([status, body.data]).toEqual([200, { status: 'ok', table: 'ok' }]);
});

describe('Any other route is 404 in the envelope', () => {
  test.each([
    ['GET', '/Transactions'],
    ['GET', '/categories/1/transactions'],
    ['GET', '/api/transactions'],
    ['PATCH', '/transactions/1/2'],
    ['POST', '/nowhere'],
    ['OPTIONS', '/nowhere'],
  ])('%s %s', async (method, path) => {
    const response = await api.request(method, path, method === 'POST' ? { rawBody: '{' } : {});
    expectNotFound(response, `No route for ${method} ${decodeURIComponent(path)}: see GET /docs`);
  });

  test('a long path is shortened in the message', async () => {
    const path = `/${'x'.repeat(3_000)}`;
    expectNotFound(await api.get(path), `No route for GET ${path.slice(0, 100)}…: see GET /docs`);
    const { body } = await api.request('PATCH', `/transactions${path}`);
    expect(body.message).toBe(`${`/transactions${path}`.slice(0, 100)}… does not support PATCH`);
  });

  test('an encoded slash does not separate segments', async () => {
    const { status, body } = await api.get('/transactions%2F1');
    expect([status, body.success, body.error]).toEqual([404, false, 'not_found']);
  });
});

// The test of `createRouteError` covers every other method of every path.
describe('A known path with another method is 405 in the envelope, with Allow', () => {
  test.each([
    ['PATCH', '/transactions/abc/', 'GET, PUT, DELETE'],
    ['DELETE', '/categories/', 'GET, POST'],
    ['OPTIONS', '/categories', 'GET, POST'],
    ['GET', '/transactions/bulk', 'POST, PUT'],
    ['DELETE', '/transactions/bulk/', 'POST, PUT'],
    ['POST', '/health', 'GET'],
  ])('%s %s', async (method, path, allow) => {
    const response = await api.request(method, path, { rawBody: '{' });
    const route = path.replace(/\/$/, '');
    expectFailure(response, 405, 'method_not_allowed', `${route} does not support ${method}`);
    expect(response.headers.allow).toBe(allow);
  });
});

// Invalid and unknown ids that a gateway decodes. The test of `parseId` covers all invalid ids.
const INVALID_IDS = ['abc', '007', '%20', '1%0A', '%E7%B5%A6', '%25', '1%2C2', String(UNKNOWN_ID)];

describe.each(['transactions', 'categories'])('/%s/{id}: an unknown id', (resources) => {
  const resource = resources === 'transactions' ? 'Transaction' : 'Category';

  test.each(INVALID_IDS)(
    '%s is a 404 that names the resource and the id as sent',
    async (segment) => {
      const message = `${resource} with id ${decodeURIComponent(segment)} not found`;
      const path = `/${resources}/${segment}`;
      expectNotFound(await api.get(path), message);
      expectNotFound(await api.delete(path), message);
      expectNotFound(await api.get(`${path}/`), message);
      // The record is looked up before the body is read, so the body does not matter.
      for (const rawBody of ['', '{', '{"amount":"x"}', '{"amount":1}']) {
        expectNotFound(await api.request('PUT', path, { rawBody }), message);
      }
    },
  );
});

describe('A query string that is not UTF-8 is 400', () => {
  const message = 'The query string is not valid UTF-8';
  const routes = OPERATIONS.filter(([, name]) => !isPage(name)).map(([route]) => route);

  test.each([...routes, 'GET /nowhere'])('%s', async (route) => {
    const [method = '', path = ''] = route.replace('{id}', '1').split(' ');
    expectRefusal(await api.request(method, path, { query: 'q=caf%E9' }), message);
  });

  // The queries contain a lone continuation byte, an overlong form, a surrogate, and characters that are cut short.
  test.each(['%80', '%C0%AF', '%ED%A0%80', 'q=%f0%9f%8f&page=1', 'a%FFb=1'])(
    '%s',
    async (query) => {
      expectRefusal(await api.get('/transactions', query), message);
    },
  );

  test.each(['external_id=%EF%BF%BD', 'external_id=100%', 'external_id=%zz'])(
    '%s is UTF-8',
    async (query) => {
      expect((await api.get('/transactions', query)).status).toBe(200);
    },
  );
});
