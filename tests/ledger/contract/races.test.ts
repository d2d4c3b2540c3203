// Another client changes a record between the checks and the write of a request. property/interleavings.test.ts covers the
// outcomes of concurrent requests.
import { expect, test } from 'vitest';
import { callOnceBefore } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { expectConflict, expectNotFound, expectRefusal } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, uniqueName } from '../support/api/records.ts';

const table = await createTestTable();
const otherClient = await openInProcess(createServiceOn(table));

/** Opens an API. `interfere` runs once, between the checks and the write of a request. */
async function openWithInterference(interfere: () => Promise<unknown>): Promise<Api> {
  const client = callOnceBefore(table.client, 'TransactWriteCommand', interfere);
  return await openInProcess(createServiceOn({ ...table, client }));
}

test('a name that another client takes after the check is a 409 "Category name must be unique"', async () => {
  const { id, ...before } = await givenCategory(otherClient);
  const name = uniqueName();
  const takenIds: number[] = [];
  const takeName = (takenName: string) => async () => {
    takenIds.push((await givenCategory(otherClient, { name: takenName })).id);
  };
  const created = await (await openWithInterference(takeName(name))).post('/categories', { name });
  expectConflict(created, 'Category name must be unique', takenIds[0]);
  const otherName = uniqueName();
  const api = await openWithInterference(takeName(otherName));
  const updated = await api.put(`/categories/${id}`, { name: otherName, color: '#abc' });
  expectConflict(updated, 'Category name must be unique', takenIds[1]);
  expect(takenIds).toHaveLength(2);
  expect((await otherClient.get(`/categories/${id}`)).body.data).toMatchObject(before);
});

test('a category deactivated after the check accepts no transaction', async () => {
  const { id: category_id } = await givenCategory(otherClient);
  const api = await openWithInterference(() => otherClient.delete(`/categories/${category_id}`));
  const response = await api.post('/transactions', { ...LUNCH, category_id });
  expectRefusal(response, 'Cannot assign transaction to inactive category');
});

test('a category that gets a transaction after the check is not deleted', async () => {
  const { id: category_id } = await givenCategory(otherClient);
  const api = await openWithInterference(() => givenTransaction(otherClient, { category_id }));
  expectConflict(
    await api.delete(`/categories/${category_id}`),
    'Cannot delete category with 1 transaction. Please reassign or delete the transaction first.',
  );
});

test.each(['put', 'delete'] as const)(
  'a transaction deleted before the %s is 404',
  async (verb) => {
    const { id } = await givenTransaction(otherClient);
    const api = await openWithInterference(() => otherClient.delete(`/transactions/${id}`));
    const response = await api[verb](`/transactions/${id}`, { amount: 1 });
    expectNotFound(response, `Transaction with id ${id} not found`);
  },
);

test.each([
  {
    path: '/transactions',
    create: givenTransaction,
    theirs: { notes: 'theirs' },
    ours: { amount: 2 },
  },
  { path: '/categories', create: givenCategory, theirs: { color: '#abc' }, ours: { name: 'ours' } },
])('two concurrent updates do not undo each other: $path', async (race) => {
  const { id } = await race.create(otherClient);
  const path = `${race.path}/${id}`;
  const api = await openWithInterference(() => otherClient.put(path, race.theirs));
  const { body } = await api.put(path, race.ours);
  const stored = (await otherClient.get(path)).body.data;
  expect(stored).toMatchObject({ ...race.theirs, ...race.ours });
  expect(stored).toMatchObject(body.data);
});

test('a rename before a deactivation is kept', async () => {
  const { id } = await givenCategory(otherClient);
  const path = `/categories/${id}`;
  const name = uniqueName();
  const api = await openWithInterference(() => otherClient.put(path, { name }));
  expect((await api.delete(path)).status).toBe(200);
  expect((await otherClient.get(path)).body.data).toMatchObject({ name, is_active: false });
});
