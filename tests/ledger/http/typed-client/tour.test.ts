// The README's tour with a client that is generated from the API description.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { generateClient } from './generate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    apiUrl: string;
    apiKey: string;
  }
}

await generateClient();
const api = await import('./client.ts');
const key: string | undefined = inject('apiKey');
api.defaults.baseUrl = inject('apiUrl');
api.defaults.headers = key ? { authorization: `Bearer ${key}` } : {};

/** Narrows a response to the one with this status. */
function expectStatus<Any extends { status: number }, Status extends Any['status']>(
  response: Any,
  status: Status,
): asserts response is Extract<Any, { status: Status }> {
  expect(response.status).toBe(status);
}

test("the generated client can take the README's tour", async () => {
  const created = await api.createCategory({ name: `Sailing ${randomUUID()}`, color: '#0077B6' });
  expectStatus(created, 201);
  const category = created.data.data;

  const idempotencyKey = randomUUID();
  const fee = {
    description: 'Mooring fee',
    amount: 89.9,
    type: 'expense',
    category_id: category.id,
    transaction_date: '2026-07-04',
  } as const;
  const first = await api.createTransaction(fee, { idempotencyKey });
  const repeated = await api.createTransaction(fee, { idempotencyKey });
  expectStatus(first, 201);
  expectStatus(repeated, 201);
  const { id } = first.data.data;
  expect(repeated.data).toEqual(first.data);

  const listed = await api.listTransactions({
    categoryId: String(category.id),
    $type: 'expense',
    startDate: '2026-01-01',
    endDate: '2026-12-31',
    perPage: 1,
  });
  expectStatus(listed, 200);
  expect(listed.data.pagination.total).toBe(1);
  expect(listed.data.data.map((transaction) => transaction.id)).toEqual([id]);
  expectStatus(await api.listTransactions({ categoryId: 'none' }), 200);

  const summary = await api.readSummary('type', { categoryId: String(category.id) });
  expectStatus(summary, 200);
  expect(summary.data.data).toMatchObject({ expense: 89.9, count: 1 });
  const exported = await api.exportTransactions('csv', { categoryId: String(category.id) });
  expectStatus(exported, 200);
  expect(exported.data.split('\r\n')[1]).toContain(`${id},2026-07-04,Mooring fee,89.9,expense,`);

  const renamed = await api.updateCategory(category.id, { name: `${category.name} club` });
  expectStatus(renamed, 200);
  const reread = await api.readTransaction(id);
  expectStatus(reread, 200);
  expect(reread.data.data.category_name).toBe(renamed.data.data.name);

  const refused = await api.deleteCategory(category.id);
  expectStatus(refused, 409);
  expect(refused.data.error).toBe('conflict');
  expectStatus(await api.deleteTransaction(id), 200);
  expectStatus(await api.deleteCategory(category.id), 200);
  const inactive = await api.readCategory(category.id);
  expectStatus(inactive, 200);
  expect(inactive.data.data).toMatchObject({ is_active: false, transaction_count: 0 });

  // @ts-expect-error: the types do not have this field
  const misspelt = await api.createTransaction({ ...fee, amount: 9.999, catgeory_id: 3 });
  expectStatus(misspelt, 400);
  expect(Object.keys(misspelt.data.details ?? {}).sort()).toEqual(['amount', 'catgeory_id']);
});

test('the generated client compiles in a strict project', async () => {
  const tsc = join(import.meta.dirname, '../../../../node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '-p', import.meta.dirname]).catch((error) => {
    expect.unreachable(error.stdout);
  });
});
