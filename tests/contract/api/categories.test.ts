// Service document, "Endpoints: Categories" and "States and transitions": what the model of property/invariants.test.ts leaves
// open, which tries every transition.
import { describe, expect, test } from 'vitest';
import { expectConflict } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, uniqueName } from '../../support/api/records.ts';

const api = await openApi();

describe('Rules 2 and 3: names', () => {
  const exists = (name: string) => `Category with name '${name}' already exists`;

  test('one that exists is a 409 that names it, trimmed and also where its category is inactive', async () => {
    const { id, name } = await givenCategory(api);
    const other = await givenCategory(api);
    await api.delete(`/categories/${id}`);
    const sent = { name: `  ${name} `, color: '#abc' };
    expectConflict(await api.post('/categories', sent), exists(name));
    expectConflict(await api.put(`/categories/${other.id}`, sent), exists(name));
  });

  test.each([
    ['case', (name: string) => name.toUpperCase()],
    ['inner white space', (name: string) => name.replace(' ', '  ')],
    ['a composed accent', (name: string) => `${name} caf\u00e9`],
    ['a decomposed accent', (name: string) => `${name} cafe\u0301`],
  ])('differ byte for byte: %s', async (_, another) => {
    const { name } = await givenCategory(api, { name: `${uniqueName()} a` });
    const created = await givenCategory(api, { name: another(name) });
    expect(created).toMatchObject({ name: another(name) });
  });
});

test('States: a DELETE of an active or inactive category in use is a 409 that says how many transactions it has', async () => {
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
