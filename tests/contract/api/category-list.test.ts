// Service document, "Categories: GET /", Rule 1, and the ruling on its order. Which values are true is tested on the parser.
import { expect, test } from 'vitest';
import { expectFilterFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  uniqueName,
  type WireRecord,
} from '../../support/api/records.ts';

const api = await openApi();

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
])('?%s', async (query, expected) => {
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
])('?%s is an error that names the parameter', async (query, name) => {
  expectFilterFaults(await api.get('/categories', query), [name]);
});

test('Rulings: ordered by the bytes of the names, also right after a rename', async () => {
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
