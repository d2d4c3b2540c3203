// Clients that send each POST three times, on connections that break at random: every purchase is recorded once.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLedgerService } from '../../lib/ledger/ledger.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { SEED, sizeOfRun } from '../support/seed.ts';
import { createSleeplessRetryPolicy } from '../support/sleepless-retry-policy.ts';
import { createFaultyClient, PASSING_FAULTS, refused } from '../support/store-faults.ts';
import { createTestTable } from '../support/test-table.ts';

const POSTS = sizeOfRun(1_000);
const CONCURRENT = 10;

test(`${POSTS} POSTs, each sent three times, are ${POSTS} rows (seed ${SEED})`, {
  timeout: 1_800_000,
}, async () => {
  const random = seededRandom(SEED);
  const table = await createTestTable();
  const options = { ...table, ledgerId: 'home', timeZone: 'UTC' };
  // Half of the calls fail: before they are applied, or after.
  let injected = 0;
  const faults = [...Object.values(PASSING_FAULTS), refused];
  const client = createFaultyClient(table.client, () => {
    if (!random.chance(0.5)) return undefined;
    injected += 1;
    return random.pick(faults);
  });
  const faulty = await openInProcess(
    createLedgerService({ ...options, client, retryPolicy: createSleeplessRetryPolicy() }),
  );
  const healthy = await openInProcess(createLedgerService(options));
  let replayed = 0;

  async function purchase(number: number): Promise<string> {
    const body = { description: `Purchase ${number}`, amount: number, type: 'expense' };
    const request = { body, headers: { 'idempotency-key': randomUUID() } };
    const replies = await Promise.all([
      ...[1, 2].map(() => faulty.request('POST', '/transactions', request)),
    ]);
    // The third time the connection is good.
    const last = await healthy.request('POST', '/transactions', request);
    expect(last.status).toBe(201);
    if (last.headers['idempotent-replayed']) replayed += 1;
    for (const { status, text } of replies) if (status === 201) expect(text).toBe(last.text);
    return last.text;
  }

  const answers = new Set<string>();
  for (let number = 1; number <= POSTS; number += CONCURRENT) {
    const numbers = Array.from({ length: CONCURRENT }, (_, n) => number + n);
    for (const text of await Promise.all(numbers.map(purchase))) answers.add(text);
  }
  expect(answers.size).toBe(POSTS);
  expect((await healthy.get('/transactions')).body.pagination?.total).toBe(POSTS);
  expect(injected).toBeGreaterThan(POSTS);
  expect(replayed).toBeGreaterThan(POSTS / 2);
});
