// Parameters of lists, as a client sends them: they are validated together, and unknown or repeated parameters are refused. The
// parser's tests cover the values of each parameter.
import { describe, expect, test } from 'vitest';
import { expectFilterErrors } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { isPage, OPERATIONS } from '../../support/api/routes.ts';

const api = await openTestApi();

describe('the parameters are validated as a set', () => {
  test.each([
    'page=0&per_page=101&category_id=x&type=x&start_date=x&end_date=2023-02-29',
    'page',
    'Page=0&page=0',
    'constructor=1&toString=2',
    'per_page[]=7',
  ])('an error names each wrong parameter of %s', async (query) => {
    const names = query.split('&').map((pair) => pair.split('=')[0] ?? '');
    expectFilterErrors(await api.get('/transactions', query), names);
    expectFilterErrors(await api.get('/transactions', `${query}&external_id=a`), names);
  });
});

describe('a parameter that the route does not have is an error', () => {
  const routes = OPERATIONS.filter(([, name]) => !isPage(name)).map(([route]) => route.split(' '));

  test.each(routes)('%s %s?nothing=1', async (method = '', path = '') => {
    const body = ['POST', 'PUT'].includes(method) && { description: 'x' };
    const request = { query: { nothing: '1' }, ...(body && { body }) };
    const details = { nothing: ['Is not a known parameter.'] };
    expect(await api.request(method, path.replace('{id}', '1'), request)).toMatchObject({
      status: 400,
      body: { message: 'Filter validation failed', details },
    });
  });
});

test('an id that no record can have is a 404 even with an invalid query', async () => {
  expect(await api.get('/transactions/007', 'nothing=1')).toMatchObject({ status: 404 });
});

test.each([
  ['/transactions', 'category_id=1&category_id=2'],
  ['/transactions', 'q=a&start_date=2024-01-01&end_date=2024-01-02&q=b'],
  ['/transactions/export', 'q=a&q=b'],
  ['/summary', 'group_by=type&group_by=month'],
  ['/health', 'deep&deep'],
])('a repeated parameter is an error: %s?%s', async (path, query) => {
  expectFilterErrors(await api.get(path, query), [/^\w+/.exec(query)?.[0] ?? '']);
});

test.each([
  [`category_id=${'9'.repeat(400)}`, { page: 1, total: 0 }],
  ['%70age=2', { page: 2 }],
  ['&&', { page: 1, per_page: 20 }],
])('the list accepts the query %s', async (query, pagination) => {
  const { status, body } = await api.get('/transactions', query);
  expect([status, body.pagination]).toEqual([200, expect.objectContaining(pagination)]);
});
