// On a drifted ledger, a write that would increase the drift fails and changes nothing. A page never shows a row of another page,
// even if counts are outdated, or a year's count differs from its months' counts because they are read at different times.
import { expect, test } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import type { Ledger } from '../../../lib/ledger/ledger.ts';
import { type Keys, LAST_ID } from '../../../lib/ledger/store/keys.ts';
import { createCorruptibleTable } from '../support/corruptible-table.ts';
import { EVERYTHING, readContents } from '../support/ledger-contents.ts';

const { givenLedger, send } = await createCorruptibleTable();

const LUNCH = {
  description: 'Lunch',
  amount: 9,
  type: 'expense',
  categoryId: null,
  date: '2026-01-01',
  notes: null,
} as const;

interface DriftCase {
  readonly title: string;
  readonly corrupt: (keys: Keys) => Promise<unknown>;
  readonly write: (ledger: Ledger) => Promise<unknown>;
  readonly failure: string;
}

test.each<DriftCase>([
  {
    title: 'a transaction id that is assigned again overwrites no transaction',
    corrupt: (keys) => send.set(keys.sequence('transaction'), LAST_ID, 0),
    write: ({ transactions }) => transactions.create(LUNCH),
    failure: 'Transaction id 1 was assigned twice',
  },
  {
    title: 'a deletion of a transaction does not create its missing category',
    corrupt: (keys) => send.delete(keys.category(2)),
    write: ({ transactions }) => transactions.remove('3'),
    failure: 'Category 2 of a transaction does not exist',
  },
  {
    title: 'a rename does not release a name that another category has claimed',
    corrupt: (keys) => send.set(keys.categoryName('Food'), 'category_id', 2),
    write: async ({ categories }) =>
      categories.update(await categories.find('1'), { name: 'Meals' }),
    failure: 'The name of category 1 is not reserved for it',
  },
])('$title', async ({ corrupt, write, failure }) => {
  const { target, keys } = await givenLedger();
  const ledger = openLedger({ ...target, timeZone: 'UTC' });
  await corrupt(keys);
  const before = await readContents(ledger);
  await expect(write(ledger)).rejects.toThrow(failure);
  expect(await readContents(ledger)).toEqual(before);
});

test('a category id that is assigned again overwrites no category: the new one gets the next free id', async () => {
  const { target, keys } = await givenLedger();
  const { categories } = openLedger({ ...target, timeZone: 'UTC' });
  await send.set(keys.sequence('category'), LAST_ID, 0);
  const before = await categories.list({ activeOnly: false });
  const fields = { name: 'Fun', description: null, color: null, isActive: true };
  const created = await categories.create(fields);
  expect(created.id).toBe(3);
  expect(await categories.list({ activeOnly: false })).toEqual([
    ...before.filter(({ name }) => name < 'Fun'),
    created,
    ...before.filter(({ name }) => name > 'Fun'),
  ]);
});

test('if the year counts a row that its month does not count, the page continues with an earlier month', async () => {
  const { target, keys } = await givenLedger();
  const { transactions } = openLedger({ ...target, timeZone: 'UTC' });
  await send.set({ pk: keys.days(), sk: 'Y#2026' }, 'i4', 2);
  const { items, pagination } = await transactions.list({ ...EVERYTHING, page: 2, perPage: 1 });
  expect(items.map(({ id, date }) => [id, date])).toEqual([[2, '2026-03-05']]);
  expect(pagination.total).toBe(5);
});

test('if the counts lack rows of the first page, the total is at least the number of rows shown', async () => {
  const { target, keys } = await givenLedger();
  const { transactions } = openLedger({ ...target, timeZone: 'UTC' });
  for (const year of ['Y#2025', 'Y#2026']) await send.delete({ pk: keys.days(), sk: year });
  const { items, pagination } = await transactions.list({ ...EVERYTHING, page: 1, perPage: 20 });
  expect([items.length, pagination.total, pagination.pages]).toEqual([4, 4, 1]);
});
