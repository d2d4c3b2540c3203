// What depends on the time of day: the current day, and the moves of updated_at.
import { expect, test } from 'vitest';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { givenTransaction } from '../support/api/records.ts';

const NOON = Date.parse('2024-06-15T12:00:00.000Z');

/** An API whose clock stands until the test moves it. */
async function openAt(instant: number, timeZone = 'UTC') {
  const clock = { now: instant };
  const service = await createTestService({ timeZone, clock: () => new Date(clock.now) });
  return { api: await openInProcess(service), clock };
}

test('the default of transaction_date is the current day in the service’s time zone', async () => {
  const created_at = '2024-12-31T23:30:00.000Z';
  const { api } = await openAt(Date.parse(created_at), 'Europe/Berlin');
  const created = await givenTransaction(api);
  expect(created).toMatchObject({ transaction_date: '2025-01-01', created_at });
});

test('updated_at moves with every write, even on a clock that stands or goes back', async () => {
  const { api, clock } = await openAt(NOON);
  const { id, updated_at } = await givenTransaction(api);
  expect(updated_at).toBe('2024-06-15T12:00:00.000Z');
  const update = async () => (await api.put(`/transactions/${id}`, { amount: 1 })).body.data;
  expect((await update()).updated_at).toBe('2024-06-15T12:00:00.001Z');
  clock.now = NOON - 60_000;
  expect((await update()).updated_at).toBe('2024-06-15T12:00:00.002Z');
  clock.now = NOON + 60_000;
  expect(await update()).toMatchObject({
    created_at: '2024-06-15T12:00:00.000Z',
    updated_at: '2024-06-15T12:01:00.000Z',
  });
});
