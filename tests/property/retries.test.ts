// Clients that send each POST three times, on connections that break at random: every purchase is recorded once.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLedgerService } from '../../lib/ledger/ledger.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { SEED, sizeOfRun } from '../support/seed.ts';
import { createFaultyClient, PASSING_FAULTS, refused } from '../support/store-faults.ts';
import { createTestTable } from '../support/test-table.ts';
import { createVirtualTime } from '../support/virtual-time.ts';

const POSTS = sizeOfRun(1_000);
const CONCURRENT = 10;

test(`${POSTS} POSTs, each sent three times, are ${POSTS} rows (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const table = await createTestTable();
  const options = { ...table, ledgerId: 'home', timeZone: 'UTC' };
  const { retryPolicy, timeoutSignal } = createVirtualTime();
  // A quarter of the calls fail: before they are applied, or after.
  const faults = [...Object.values(PASSING_FAULTS), refused];
  const client = createFaultyClient(table.client, () =>
    random() < 0.25 ? faults[Math.floor(random() * faults.length)] : undefined,
  );
  const faulty = await openInProcess(
    createLedgerService({ ...options, client, retryPolicy, timeoutSignal }),
  );
  const healthy = await openInProcess(createLedgerService(options));
  let failures = 0;

  async function purchase(number: number): Promise<string> {
    const body = { description: `Purchase ${number}`, amount: number, type: 'expense' };
    const request = { body, headers: { 'idempotency-key': randomUUID() } };
    const replies = await Promise.all([
      ...[1, 2].map(() => faulty.request('POST', '/transactions', request)),
    ]);
    failures += replies.filter(({ status }) => status !== 201).length;
    // The third time the connection is good.
    const last = await healthy.request('POST', '/transactions', request);
    expect(last.status).toBe(201);
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
  // The faults were real ones: some requests had no answer in time.
  expect(failures).toBeGreaterThan(0);
});
