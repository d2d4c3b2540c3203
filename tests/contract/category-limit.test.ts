// A ledger has a limited number of categories, active and inactive, so that the list of all fits one response.
import { expect, test } from 'vitest';
import { CATEGORY_LIMIT } from '../../lib/domain/category.ts';
import { toCategoryRowJson } from '../../lib/http/category-json.ts';
import { expectConflict } from '../support/api/expect-reply.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';

test('the next category after the limit is a 409, also when others are inactive', async () => {
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

test('a list of as many of the longest categories as a ledger may have fits a Lambda response', () => {
  // A control character takes six bytes in JSON, more than any other character.
  const longest = {
    ...{
      id: Number.MAX_SAFE_INTEGER,
      name: '\u0001'.repeat(255),
      description: '\u0001'.repeat(1_000),
    },
    ...{ color: '#12345678', isActive: false, transactionCount: Number.MAX_SAFE_INTEGER },
    ...{ createdAt: 0, updatedAt: 0, version: 1 },
  };
  const list = Array.from({ length: CATEGORY_LIMIT }, () =>
    toCategoryRowJson(longest, { isCounted: true }),
  );
  const body = JSON.stringify({ success: true, data: list, count: list.length });
  // The limit of 6 MB is on the whole result, in which the body is a JSON string again.
  expect(Buffer.byteLength(JSON.stringify({ statusCode: 200, headers: {}, body }))).toBeLessThan(
    6 * 1024 * 1024,
  );
});
