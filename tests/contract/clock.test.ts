// What depends on the time of day: the order of rows created at one instant, the current day, the moves of updated_at.
import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { givenTransaction, type WireRecord } from '../support/api/records.ts';

const NOON = Date.parse('2024-06-15T12:00:00.000Z');

/** An API whose clock stands until the test moves it. */
async function openAt(instant: number, timeZone = 'UTC') {
  const clock = { now: instant };
  const service = await createTestService({ timeZone, clock: () => new Date(clock.now) });
  return { api: await openInProcess(service), clock };
}

async function listedIds(api: Api, query?: Record<string, string | number>): Promise<number[]> {
  const { body } = await api.get('/transactions', query);
  return body.data.map(({ id }: WireRecord) => id);
}

describe('Rule 2 and its tie-breaks', () => {
  test('on one date, created_at descending, whatever the order of the ids', async () => {
    const { api, clock } = await openAt(NOON);
    const ids: number[] = [];
    for (const hours of [0, -5, 3, 1]) {
      clock.now = NOON + hours * 3_600_000;
      ids.push((await givenTransaction(api, { transaction_date: '2024-01-01' })).id);
    }
    const [at0, at5Before, at3, at1] = ids;
    expect(await listedIds(api)).toEqual([at3, at1, at0, at5Before]);
  });

  test('created at one instant, id descending, beyond nine as well', async () => {
    const { api } = await openAt(NOON);
    const ids: number[] = [];
    for (let n = 0; n < 12; n += 1) ids.push((await givenTransaction(api)).id);
    expect(await listedIds(api)).toEqual(ids.toReversed());
    const pages = [1, 2, 3].map((page) => listedIds(api, { page, per_page: 5 }));
    expect((await Promise.all(pages)).flat()).toEqual(ids.toReversed());
  });
});

describe('transaction_date: the default is the current day in the service’s time zone', () => {
  test.each([
    ['2024-12-31T23:30:00.000Z', 'Europe/Berlin', '2025-01-01'],
    ['2024-03-01T04:59:59.999Z', 'America/New_York', '2024-02-29'],
  ])('at %s in %s', async (instant, timeZone, date) => {
    const { api } = await openAt(Date.parse(instant), timeZone);
    const created = await givenTransaction(api);
    expect(created).toMatchObject({ transaction_date: date, created_at: instant });
  });
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
