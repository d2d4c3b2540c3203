// Service document, "Categories: Rule 4", and what else changes between a check and the write that relies on it.
import { expect, test } from 'vitest';
import type { Api } from '../support/api/api-client.ts';
import { expectConflict, expectNotFound, expectRefusal } from '../support/api/expect-reply.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, uniqueName } from '../support/api/records.ts';
import { onceBefore } from '../support/interposed-client.ts';
import { createTestTable } from '../support/test-table.ts';

const { client, tableName } = await createTestTable();
const options = { tableName, ledgerId: 'test', timeZone: 'UTC' };
const others = await openInProcess(createServiceOn({ client, ...options }));

/** An API on which somebody else is quicker: they act after the checks and before the write. */
async function outrunBy(act: () => Promise<unknown>): Promise<Api> {
  const outrun = onceBefore(client, 'TransactWriteCommand', act);
  return await openInProcess(createServiceOn({ client: outrun, ...options }));
}

const readCategory = async (id: number) => (await others.get(`/categories/${id}`)).body.data;

test('Rule 4: a name taken at storage time is 409 "Category name must be unique" on create', async () => {
  const name = uniqueName();
  const api = await outrunBy(() => givenCategory(others, { name }));
  expectConflict(await api.post('/categories', { name }), 'Category name must be unique');
  const { body } = await others.get('/categories', { active_only: false });
  const named = body.data.filter((each: { name: string }) => each.name === name);
  expect(named).toHaveLength(1);
});

test('Rule 4: and on update, where nothing of it is applied', async () => {
  const before = await givenCategory(others);
  const name = uniqueName();
  const api = await outrunBy(() => givenCategory(others, { name }));
  const reply = await api.put(`/categories/${before.id}`, { name, color: '#abc' });
  expectConflict(reply, 'Category name must be unique');
  expect(await readCategory(before.id)).toEqual({ ...before, transaction_count: 0 });
});

test('a category deactivated after the check takes no transaction', async () => {
  const { id } = await givenCategory(others);
  const api = await outrunBy(() => others.delete(`/categories/${id}`));
  const reply = await api.post('/transactions', { ...LUNCH, category_id: id });
  expectRefusal(reply, 'Cannot assign transaction to inactive category');
  expect(await readCategory(id)).toMatchObject({ is_active: false, transaction_count: 0 });
});

test('a category that is joined after the check is not deleted', async () => {
  const { id } = await givenCategory(others);
  const api = await outrunBy(() => givenTransaction(others, { category_id: id }));
  expectConflict(
    await api.delete(`/categories/${id}`),
    'Cannot delete category with 1 transaction. Please reassign or delete the transaction first.',
  );
  expect(await readCategory(id)).toMatchObject({ is_active: true, transaction_count: 1 });
});

test.each(['put', 'delete'] as const)(
  'a transaction deleted before the %s is 404',
  async (verb) => {
    const { id } = await givenTransaction(others);
    const api = await outrunBy(() => others.delete(`/transactions/${id}`));
    const reply = await api[verb](`/transactions/${id}`, { amount: 1 });
    expectNotFound(reply, `Transaction with id ${id} not found`);
  },
);

test('Rule 6: of two updates at once neither undoes the other', async () => {
  const { id } = await givenTransaction(others);
  const path = `/transactions/${id}`;
  const api = await outrunBy(() => others.put(path, { notes: 'theirs', amount: 2 }));
  const { status, body } = await api.put(path, { description: 'ours' });
  expect([status, body.data]).toEqual([
    200,
    expect.objectContaining({ description: 'ours', notes: 'theirs', amount: 2 }),
  ]);
  expect((await others.get(path)).body.data).toEqual(body.data);
});

test('and of two updates of a category', async () => {
  const { id } = await givenCategory(others);
  const path = `/categories/${id}`;
  const name = uniqueName();
  const api = await outrunBy(() => others.put(path, { color: '#abc', is_active: false }));
  const { status, body } = await api.put(path, { name });
  expect([status, body.data]).toEqual([
    200,
    expect.objectContaining({ name, color: '#abc', is_active: false }),
  ]);
});

test('a rename that comes before a deactivation is kept', async () => {
  const { id } = await givenCategory(others);
  const path = `/categories/${id}`;
  const name = uniqueName();
  const api = await outrunBy(() => others.put(path, { name, color: '#abc' }));
  expect((await api.delete(path)).status).toBe(200);
  expect(await readCategory(id)).toMatchObject({ name, color: '#abc', is_active: false });
});
