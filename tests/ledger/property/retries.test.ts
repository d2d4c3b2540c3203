// Clients that send each POST three times, on connections that break at random: every purchase is recorded once.
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createSeededRandom } from '../../../cli/seeded-random.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { SEED, scaleCases } from '../../shared/support/seed.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import {
  createFaultyClient,
  refused,
  TEMPORARY_FAULTS,
} from '../../shared/support/store-faults.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';

const POSTS = scaleCases(1_000);
const CONCURRENCY = 10;
const BULK_REQUESTS = scaleCases(200);
const ROWS_PER_REQUEST = 7;
const ROUNDS = BULK_REQUESTS / 2;
const KEPT_ROWS = 3;

/** Opens one ledger over two connections: a healthy one, and one where half of the calls fail, before or after they are applied. */
async function openLedgerTwice() {
  const random = createSeededRandom(SEED);
  const table = await createTestTable();
  const options = { ...table, ledgerId: 'home', timeZone: 'UTC' };
  let injected = 0;
  const faults = [...Object.values(TEMPORARY_FAULTS), refused];
  const client = createFaultyClient(table.client, () => {
    if (!random.chance(0.5)) return undefined;
    injected += 1;
    return random.pick(faults);
  });
  const retryPolicy = createSleeplessRetryPolicy();
  const faulty = await openInProcess(createServiceOn({ ...options, client, retryPolicy }));
  const healthy = await openInProcess(createServiceOn(options));
  const { verify } = createVerification(options);
  /** Sends a request twice concurrently over the faulty connection, and then over the healthy one. */
  async function sendThrice(method: string, path: string, body: object) {
    const request = { body, headers: { 'idempotency-key': randomUUID() } };
    const send = (api: Api) => api.request(method, path, request);
    const responses = await Promise.all([send(faulty), send(faulty)]);
    return { responses, lastResponse: await send(healthy) };
  }
  const total = async () => (await healthy.get('/transactions')).body.pagination?.total;
  return { healthy, sendThrice, total, verify, injected: () => injected };
}

const makeRows = (number: number) =>
  Array.from({ length: ROWS_PER_REQUEST }, (_, n) => ({
    description: `Row ${n}`,
    amount: number,
    type: 'expense',
    transaction_date: '2026-03-05',
  }));

test(`${POSTS} POSTs, each sent three times, create ${POSTS} rows (seed ${SEED})`, async () => {
  const { sendThrice, total, injected } = await openLedgerTwice();
  let replayed = 0;

  async function purchase(number: number): Promise<string> {
    const body = { description: `Purchase ${number}`, amount: number, type: 'expense' };
    const { responses, lastResponse } = await sendThrice('POST', '/transactions', body);
    expect(lastResponse.status).toBe(201);
    if (lastResponse.headers['idempotent-replayed']) replayed += 1;
    for (const { status, text } of responses)
      if (status === 201) expect(text).toBe(lastResponse.text);
    return lastResponse.text;
  }

  const texts = new Set<string>();
  for (let number = 1; number <= POSTS; number += CONCURRENCY) {
    const numbers = Array.from({ length: CONCURRENCY }, (_, n) => number + n);
    for (const text of await Promise.all(numbers.map(purchase))) texts.add(text);
  }
  expect(texts.size).toBe(POSTS);
  expect(await total()).toBe(POSTS);
  expect(injected()).toBeGreaterThan(POSTS);
  expect(replayed).toBeGreaterThan(POSTS / 2);
});

test(`${BULK_REQUESTS} bulk requests, each sent three times, create each transaction once (seed ${SEED})`, async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { sendThrice, total, verify, injected } = await openLedgerTwice();
  let created = 0;
  for (let number = 1; number <= BULK_REQUESTS; number += 1) {
    const transactions = makeRows(number).map((row, n) =>
      n % 2 === 0 ? row : { ...row, external_id: `bank-${number}-${n}` },
    );
    const { responses, lastResponse } = await sendThrice('POST', '/transactions/bulk', {
      transactions,
    });
    expect(lastResponse.body.data).toMatchObject({
      created: ROWS_PER_REQUEST,
      duplicates: 0,
      failed: 0,
    });
    // Rows that an earlier response reported as created keep their ids.
    for (const { body } of responses) {
      for (const { index, id } of body.data?.results ?? []) {
        if (id === undefined) continue;
        created += 1;
        expect(id).toBe(lastResponse.body.data.results[index].id);
      }
    }
  }
  expect(await total()).toBe(BULK_REQUESTS * ROWS_PER_REQUEST);
  expect((await verify()).drifts).toEqual([]);
  expect(injected()).toBeGreaterThan(BULK_REQUESTS);
  expect(created).toBeGreaterThan(BULK_REQUESTS);
});

test(`${ROUNDS} bulk updates and deletes, each sent three times, change each transaction once (seed ${SEED})`, async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { healthy, sendThrice, total, verify, injected } = await openLedgerTwice();
  const change = async (method: string, path: string, transactions: readonly object[]) =>
    (await sendThrice(method, path, { transactions })).lastResponse.body.data;
  for (let number = 1; number <= ROUNDS; number += 1) {
    const { body } = await healthy.post('/transactions/bulk', { transactions: makeRows(number) });
    const rows: { id: number; etag: string }[] = body.data.results;
    // If a change were applied twice, the second time would find another version and fail.
    const changes = rows.map(({ id, etag }) => ({ id, if_match: etag, amount: number + 1 }));
    const updated = await change('PUT', '/transactions/bulk', changes);
    expect(updated).toMatchObject({ updated: ROWS_PER_REQUEST, failed: 0 });
    for (const { id, etag } of updated.results) expect(etag).toMatch(`"t${id}.2.`);
    const removals = rows.slice(KEPT_ROWS).map(({ id }) => ({ id }));
    const deleted = await change('POST', '/transactions/bulk/delete', removals);
    expect(deleted).toMatchObject({ deleted: removals.length, failed: 0 });
  }
  expect(await total()).toBe(ROUNDS * KEPT_ROWS);
  expect((await verify()).drifts).toEqual([]);
  expect(injected()).toBeGreaterThan(ROUNDS);
});
