// Rulings on routes: mount points, slashes, unknown routes, path ids. And "Errors: not found".
import { beforeAll, describe, expect, test } from 'vitest';
import {
  expectFailure,
  expectFilterFaults,
  expectNotFound,
  expectRefusal,
  expectRequestId,
} from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  goneTransactionId,
  LUNCH,
  UNKNOWN_ID,
  uniqueName,
} from '../../support/api/records.ts';
import { isPage, OPERATIONS } from '../../support/api/routes.ts';

const api = await openApi();

describe.each(['', '/'])('With %j at the end all operations answer', (slash) => {
  let transaction: string;
  let category: string;

  beforeAll(async () => {
    transaction = `/transactions/${(await givenTransaction(api)).id}${slash}`;
    category = `/categories/${(await givenCategory(api)).id}${slash}`;
  });

  test('GET, POST /transactions', async () => {
    expect((await api.get(`/transactions${slash}`)).body).toHaveProperty('pagination');
    expect((await api.get(`/transactions${slash}`, { page: 2 })).status).toBe(200);
    expect((await api.post(`/transactions${slash}`, LUNCH)).status).toBe(201);
  });

  test('GET, PUT, DELETE /transactions/{id}', async () => {
    expect((await api.get(transaction)).body.data).toMatchObject(LUNCH);
    expect((await api.put(transaction, { amount: 1 })).body.data.amount).toBe(1);
    expect((await api.delete(transaction)).status).toBe(200);
    expect((await api.get(transaction)).status).toBe(404);
  });

  test('GET, POST /categories', async () => {
    expect((await api.get(`/categories${slash}`)).body).toHaveProperty('count');
    const reply = await api.post(`/categories${slash}`, { name: uniqueName() });
    expect(reply.status).toBe(201);
  });

  test('GET, PUT, DELETE /categories/{id}', async () => {
    expect((await api.get(category)).body.data.transaction_count).toBe(0);
    expect((await api.put(category, { color: '#abc' })).body.data.color).toBe('#abc');
    expect((await api.delete(category)).status).toBe(200);
    expect((await api.get(category)).body.data.is_active).toBe(false);
  });

  test('POST, PUT /transactions/bulk, POST /transactions/bulk/delete', async () => {
    const many = await api.post(`/transactions/bulk${slash}`, { transactions: [LUNCH, LUNCH] });
    const rows: { id: number; etag: string }[] = many.body.data.results;
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
    // All years of a shared ledger may be more months than one response names.
    const today = { start_date: date, end_date: date, group_by: 'type,month' };
    const { body } = await api.get(`/summary${slash}`, today);
    expect(body.data.groups[0].income).toHaveLength(body.data.months.length);
    expect((await api.get(`/me${slash}`)).body.data).toMatchObject({ scope: 'write' });
  });
});

describe('Health', () => {
  test.each(['', '/'])('GET /health%s: the service runs', async (slash) => {
    const { status, body } = await api.get(`/health${slash}`);
    expect([status, body]).toEqual([200, { success: true, data: { status: 'ok' } }]);
  });

  test('GET /health?deep: the table answers', async () => {
    const { status, body } = await api.get('/health', 'deep');
    expect([status, body.data]).toEqual([200, { status: 'ok', table: 'ok' }]);
  });

  test.each(['deep=', 'deep=true', 'deep=1'])('GET /health?%s: so it does', async (query) => {
    expect((await api.get('/health', query)).body.data).toHaveProperty('table');
  });

  test('GET /health?depe is an error that names it, not a check that reads nothing', async () => {
    expectFilterFaults(await api.get('/health', 'depe'), ['depe']);
  });
});

describe('Any other route is 404 in the envelope', () => {
  test.each([
    ['GET', '/transaction'],
    ['GET', '/Transactions'],
    ['GET', '/transactions/1/2'],
    ['GET', '/categories/1/transactions'],
    ['GET', '/api/transactions'],
    ['GET', '/healthy'],
    ['PATCH', '/transactions/1/2'],
  ])('%s %s', async (method, path) => {
    const reply = await api.request(method, path);
    expectNotFound(reply, `No route for ${method} ${decodeURIComponent(path)}`);
  });

  test('a slash that is encoded parts nothing', async () => {
    const { status, body } = await api.get('/transactions%2F1');
    expect([status, body.success, body.error]).toEqual([404, false, 'not_found']);
  });

  test('OPTIONS that is no preflight', async () => {
    const reply = await api.request('OPTIONS', '/nowhere');
    expectNotFound(reply, 'No route for OPTIONS /nowhere');
  });

  test('with a body that is not JSON, too', async () => {
    const reply = await api.request('POST', '/nowhere', { rawBody: '{' });
    expectNotFound(reply, 'No route for POST /nowhere');
  });
});

describe('A known path with another method is 405 in the envelope, with Allow', () => {
  test.each([
    ['PATCH', '/transactions/abc/', 'GET, PUT, DELETE'],
    ['PUT', '/transactions', 'GET, POST'],
    ['DELETE', '/categories/', 'GET, POST'],
    ['OPTIONS', '/categories', 'GET, POST'],
    ['GET', '/transactions/bulk', 'POST, PUT'],
    ['DELETE', '/transactions/bulk/', 'POST, PUT'],
    ['PATCH', '/transactions/bulk/delete', 'POST'],
    ['PUT', '/transactions/export', 'GET'],
    ['POST', '/health', 'GET'],
  ])('%s %s', async (method, path, allow) => {
    const reply = await api.request(method, path, { rawBody: '{' });
    const route = path.replace(/\/$/, '');
    expectFailure(reply, 405, 'method_not_allowed', `${route} does not support ${method}`);
    expect(reply.headers.allow).toBe(allow);
  });
});

// Which texts are ids is tested on `canonicalId`: here are those that a gateway decodes.
const NO_IDS = ['abc', '007', '%20', '1%0A', '%E7%B5%A6', '%25', '1%2C2', String(UNKNOWN_ID)];

describe.each(['transactions', 'categories'])('/%s/{id}: an id nobody has', (resources) => {
  const resource = resources === 'transactions' ? 'Transaction' : 'Category';

  test.each(NO_IDS)('%s is 404 naming the resource and the id as sent', async (segment) => {
    const message = `${resource} with id ${decodeURIComponent(segment)} not found`;
    const path = `/${resources}/${segment}`;
    expectNotFound(await api.get(path), message);
    expectNotFound(await api.put(path, { amount: 1 }), message);
    expectNotFound(await api.delete(path), message);
    expectNotFound(await api.get(`${path}/`), message);
  });

  test.each(['00_', '_.0', '%20_'])(
    'an id that somebody has, written %s, is another one',
    async (form) => {
      const given = resources === 'transactions' ? givenTransaction : givenCategory;
      const { id } = await given(api);
      const segment = form.replace('_', id);
      const message = `${resource} with id ${decodeURIComponent(segment)} not found`;
      expectNotFound(await api.get(`/${resources}/${segment}`), message);
      expectNotFound(await api.delete(`/${resources}/${segment}`), message);
      expect((await api.get(`/${resources}/${id}`)).status).toBe(200);
    },
  );
});

test('an id is no other in another resource', async () => {
  const gone = await goneTransactionId(api);
  expectNotFound(await api.get(`/transactions/${gone}`), `Transaction with id ${gone} not found`);
});

describe('A query string that is not UTF-8 is 400', () => {
  const message = 'The query string is not valid UTF-8';
  const routes = OPERATIONS.filter(([, name]) => !isPage(name)).map(([route]) => route);

  test.each([...routes, 'GET /nowhere'])('%s', async (route) => {
    const [method = '', path = ''] = route.replace('{id}', '1').split(' ');
    expectRefusal(await api.request(method, path, { query: 'q=caf%E9' }), message);
  });

  // A lone continuation byte, an overlong form, a surrogate, a character cut short.
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

describe('Every response is JSON in the envelope and carries X-Request-Id', () => {
  test.each([
    ['GET', '/transactions', 200],
    ['GET', '/transactions?page=0', 400],
    ['POST', '/transactions', 400],
    ['GET', '/transactions/0', 404],
    ['GET', '/categories', 200],
    ['PATCH', '/nowhere', 404],
  ])('%s %s: %i', async (method, pathAndQuery, status) => {
    const [path = '', query = ''] = pathAndQuery.split('?');
    const reply = await api.request(method, path, { query });
    expect(reply.status).toBe(status);
    expect(reply.body.success).toBe(status < 400);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['cache-control']).toBe('no-store');
    expectRequestId(reply);
  });

  test('no two requests share an id', async () => {
    const replies = await Promise.all([1, 2, 3].map(() => api.get('/categories')));
    expect(new Set(replies.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
  });
});
