// Categories: the order of the list, and the rules missing from the model in property/invariants.test.ts, which tries every
// transition. The parser's test covers the values that count as true.
import { describe, expect, test } from 'vitest';
import { expectConflict, expectFilterErrors } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  uniqueName,
  type WireRecord,
} from '../../support/api/records.ts';

const api = await openTestApi();

describe('category names', () => {
  const describeConflict = (name: string) => `Category with name '${name}' already exists`;

  test('are unique: a taken name gets a 409 that quotes the trimmed name and says if its category is inactive', async () => {
    const { id, name } = await givenCategory(api);
    const other = await givenCategory(api);
    const body = { name: `  ${name} `, color: '#abc' };
    expectConflict(await api.post('/categories', body), describeConflict(name), id);
    expectConflict(await api.put(`/categories/${other.id}`, body), describeConflict(name), id);
    await api.delete(`/categories/${id}`);
    const inactive = `${describeConflict(name)} and is inactive: PUT /categories/${id} with {"is_active": true} makes it active`;
    expectConflict(await api.post('/categories', body), inactive, id);
    expectConflict(await api.put(`/categories/${other.id}`, body), inactive, id);
  });

  test.each([
    ['case', (name: string) => name.toUpperCase()],
    ['inner white space', (name: string) => name.replace(' ', '  ')],
    ['a composed accent', (name: string) => `${name} caf\u00e9`],
    ['a decomposed accent', (name: string) => `${name} cafe\u0301`],
  ])('are distinct if they differ in %s', async (_, vary) => {
    const { name } = await givenCategory(api, { name: `${uniqueName()} a` });
    const created = await givenCategory(api, { name: vary(name) });
    expect(created).toMatchObject({ name: vary(name) });
  });
});

test('GET /categories returns 304 until something that it shows changes', async () => {
  const { id } = await givenCategory(api);
  const request = async (query: string, etag: string) =>
    await api.request('GET', '/categories', { query, headers: { 'if-none-match': etag } });
  const etagWithCounts = (await api.get('/categories', 'include_counts=true')).headers.etag ?? '';
  const etagWithoutCounts = (await api.get('/categories')).headers.etag ?? '';
  expect(await request('', `W/${etagWithoutCounts}`)).toMatchObject({ status: 304, text: '' });
  expect((await request('include_counts=true', etagWithCounts)).status).toBe(304);
  expect((await request('include_counts=true', etagWithoutCounts)).status).toBe(200);

  await givenTransaction(api);
  expect((await request('include_counts=true', etagWithCounts)).status).toBe(304);
  await givenTransaction(api, { category_id: id });
  expect((await request('include_counts=true', etagWithCounts)).status).toBe(200);
  await api.put(`/categories/${id}`, { is_active: false });
  const changed = await request('', etagWithoutCounts);
  expect([changed.status, changed.body.count]).toEqual([200, changed.body.data.length]);
  expect(changed.headers.etag).not.toBe(etagWithoutCounts);
});

test('a DELETE of a category in use, active or inactive, gets a 409 with the number of its transactions', async () => {
  const { id } = await givenCategory(api);
  await givenTransaction(api, { category_id: id });
  for (const is_active of [true, false]) {
    expect((await api.put(`/categories/${id}`, { is_active })).status).toBe(200);
    expectConflict(
      await api.delete(`/categories/${id}`),
      'Cannot delete category with 1 transaction. Please reassign or delete the transaction first.',
    );
    const { data } = (await api.get(`/categories/${id}`)).body;
    expect(data).toMatchObject({ is_active, transaction_count: 1 });
  }
});

const active: WireRecord = await givenCategory(api);
const inactive: WireRecord = await givenCategory(api, { is_active: false });
await givenTransaction(api, { category_id: active.id });

test.each([
  ['', [active, undefined]],
  ['active_only=true', [active, undefined]],
  ['active_only', [active, inactive]],
  ['include_counts=tRuE', [{ ...active, transaction_count: 1 }, undefined]],
  [
    'include_counts=true&active_only=1',
    [
      { ...active, transaction_count: 1 },
      { ...inactive, transaction_count: 0 },
    ],
  ],
])('GET /categories?%s lists the expected categories', async (query, expected) => {
  const { body } = await api.get('/categories', query);
  expect(body).toMatchObject({ success: true, count: body.data.length });
  const listed = [active, inactive].map(({ id }) =>
    body.data.find((each: WireRecord) => each.id === id),
  );
  const etag = expect.any(String);
  expect(listed).toEqual(expected.map((each) => each && { ...each, etag }));
});

test.each([
  ['active_only=true&active_only=true', 'active_only'],
  ['Active_only=false', 'Active_only'],
])('GET /categories?%s is an error that names the parameter', async (query, name) => {
  expectFilterErrors(await api.get('/categories', query), [name]);
});

test('the list is ordered by the bytes of the names, even right after a rename', async () => {
  const prefix = uniqueName();
  const suffixes = ['a', 'B', 'é', 'b', '🏠', '10', '9', '\uffee', 'aa'];
  for (const suffix of suffixes) await givenCategory(api, { name: `${prefix} ${suffix}` });
  const renamed = await givenCategory(api, { name: `${prefix} 0` });
  await api.put(`/categories/${renamed.id}`, { name: `${prefix} C` });
  const { body } = await api.get('/categories');
  const names = body.data.map(({ name }: WireRecord) => name);
  expect(names.filter((name: string) => name.startsWith(prefix))).toEqual(
    ['10', '9', 'B', 'C', 'a', 'aa', 'b', 'é', '\uffee', '🏠'].map((each) => `${prefix} ${each}`),
  );
});
