// Counts are read a moment late, and a year's not in the same moment as a month's: a page still shows no row of another page.
import { expect, test } from 'vitest';
import { openLedger } from '../../cli/open-ledger.ts';
import { createCorruptibleTable } from '../support/corruptible-table.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';

const { givenLedger, send } = await createCorruptibleTable();

test('where the year counts a row that its month does not, the page goes on before the month', async () => {
  const { target, keys } = await givenLedger();
  const { transactions } = openLedger({ ...target, timeZone: 'UTC' });
  await send.set({ pk: keys.days(), sk: 'Y#2026' }, 'i4', 2);
  const { items, pagination } = await transactions.list({ ...EVERYTHING, page: 2, perPage: 1 });
  expect(items.map(({ id, date }) => [id, date])).toEqual([[2, '2026-03-05']]);
  expect(pagination.total).toBe(5);
});

test('where the counts lack rows of the first page, the total is not less than the rows shown', async () => {
  const { target, keys } = await givenLedger();
  const { transactions } = openLedger({ ...target, timeZone: 'UTC' });
  for (const year of ['Y#2025', 'Y#2026']) await send.delete({ pk: keys.days(), sk: year });
  const { items, pagination } = await transactions.list({ ...EVERYTHING, page: 1, perPage: 20 });
  expect([items.length, pagination.total, pagination.pages]).toEqual([4, 4, 1]);
});
