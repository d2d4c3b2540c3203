// Reads that must see the latest write ask for strong consistency. Only the requests can be tested: local engines are always
// consistent, AWS is not.
import { expect, test } from 'vitest';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../support/api/records.ts';

interface Read {
  readonly Key?: { readonly pk: string };
  readonly IndexName?: string;
  readonly ExpressionAttributeValues?: { readonly ':partition'?: { readonly S: string } };
  readonly ConsistentRead?: boolean;
}

const STRONG = ['strong'];
const EVENTUAL = ['eventual'];

test('records and names are read consistently, counts and indexes with a short delay', async () => {
  const { client, tableName } = await createTestTable();
  const levels = new Map<string, Set<string>>();
  const observedClient = interpose(client, (name, input: Read) => {
    if (name !== 'GetCommand' && name !== 'QueryCommand') return;
    const partition = input.Key?.pk ?? input.ExpressionAttributeValues?.[':partition']?.S;
    const source = input.IndexName ?? partition?.split('#')[1] ?? '?';
    const level = input.ConsistentRead ? 'strong' : 'eventual';
    levels.set(source, (levels.get(source) ?? new Set()).add(level));
  });
  const options = { client: observedClient, tableName, ledgerId: 'test', timeZone: 'UTC' };
  const api = await openInProcess(createServiceOn(options));

  const { id: category_id } = await givenCategory(api);
  const { id } = await givenTransaction(api, { category_id, transaction_date: '2026-03-05' });
  await api.get(`/transactions/${id}`);
  await api.put(`/transactions/${id}`, { notes: 'Note' });
  await api.get(`/categories/${category_id}`);
  await api.get('/categories');
  await api.get('/transactions');
  await api.get('/transactions', { category_id, start_date: '2026-03-02' });

  expect(Object.fromEntries([...levels].map(([source, set]) => [source, [...set]]))).toEqual({
    TRANSACTION: STRONG,
    CATEGORIES: STRONG,
    CATEGORY_NAMES: STRONG,
    DAYS: EVENTUAL,
    'all-by-date': EVENTUAL,
    'category-by-date': EVENTUAL,
  });
});
