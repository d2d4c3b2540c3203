// A ledger has a limited number of categories, active and inactive, so that the list of all categories fits one response.
import { expect, test } from 'vitest';
import { CATEGORY_LIMIT } from '../../../lib/ledger/domain/category.ts';
import { toCategoryJson } from '../../../lib/ledger/http/category-json.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { expectConflict } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn, createTestService } from '../support/api/open-api.ts';
import { bulkLoad } from '../support/bulk-loader.ts';
import { createStoredCategory } from '../support/stored-records.ts';

test('the first category over the limit is a 409, even if others are inactive', async () => {
  const api = await openInProcess(await createTestService({ categoryLimit: 2 }));
  const food = await api.post('/categories', { name: 'Food' });
  await api.post('/categories', { name: 'Pay' });
  await api.delete(`/categories/${food.body.data.id}`);
  for (const name of ['Rent', 'Fun']) {
    expectConflict(
      await api.post('/categories', { name }),
      'A ledger has at most 2 categories, active and inactive. Rename one that is not used.',
    );
  }
  const renamed = await api.put(`/categories/${food.body.data.id}`, {
    name: 'Rent',
    is_active: true,
  });
  expect(renamed.status).toBe(200);
  const { body } = await api.get('/categories', { active_only: false });
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Pay', 'Rent']);
});

/** Sends a request for each name at the same time. @returns the number of responses by status */
async function race(api: Api, names: readonly string[]): Promise<Record<number, number>> {
  const responses = await Promise.all(names.map((name) => api.post('/categories', { name })));
  const byStatus = Object.entries(Object.groupBy(responses, ({ status }) => status));
  return Object.fromEntries(byStatus.map(([status, all = []]) => [status, all.length]));
}

const NEW_NAMES = Array.from({ length: 10 }, (_, n) => `New ${n}`);

test('failed creates do not reduce the number of categories that the limit allows', async () => {
  const api = await openInProcess(await createTestService({ categoryLimit: 5 }));
  const sameNames = Array.from({ length: 20 }, (_, n) => `Same ${n % 2}`);
  expect(await race(api, sameNames)).toEqual({ 201: 2, 409: 18 });
  expect(await race(api, NEW_NAMES)).toEqual({ 201: 3, 409: 7 });
});

test('a ledger with ids above the limit gets as many categories as the limit allows', async () => {
  const target = { ...(await createTestTable()), ledgerId: 'test' };
  const existing = [1, 70].map((id) => createStoredCategory(id, `Old ${id}`));
  await bulkLoad(target, existing, []);
  const api = await openInProcess(createServiceOn({ ...target, categoryLimit: 5 }));
  expect(await race(api, NEW_NAMES)).toEqual({ 201: 3, 409: 7 });
  expect(await createVerification(target).verify()).toMatchObject({ categories: 5, drifts: [] });
});

test('a list of the maximum number of the longest categories fits a Lambda response', () => {
  // A control character takes six bytes in JSON, more than any other character.
  const longest = {
    ...createStoredCategory(Number.MAX_SAFE_INTEGER, '\u0001'.repeat(255)),
    description: '\u0001'.repeat(1_000),
    color: '#12345678',
    isActive: false,
    transactionCount: Number.MAX_SAFE_INTEGER,
  };
  const list = Array.from({ length: CATEGORY_LIMIT }, () =>
    toCategoryJson(longest, { includesCount: true }),
  );
  const body = JSON.stringify({ success: true, data: list, count: list.length });
  // The limit of 6 MB is on the whole result, in which the body is a JSON string again.
  expect(Buffer.byteLength(JSON.stringify({ statusCode: 200, headers: {}, body }))).toBeLessThan(
    6 * 1024 * 1024,
  );
});
