// Many writers at once on the same items, with the conflicts of real DynamoDB: every writer succeeds, and every count is exact.
import { beforeAll, describe, expect, it } from 'vitest';
import { createContendedClient } from '../../../../bench/ledger/contended-client.ts';
import {
  createVirtualRetryPolicy,
  createVirtualTime,
} from '../../../../bench/ledger/virtual-time.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { createSeededRandom } from '../../../../cli/seeded-random.ts';
import { createLedgerService } from '../../../../lib/ledger/ledger.ts';
import { createVerification } from '../../../../lib/ledger/store/verification/verification.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { oneInEvery } from '../../../shared/support/quick-cases.ts';
import { createTestTable, type TestTable } from '../../../shared/support/test-table.ts';
import { openInProcess } from '../../support/api/in-process-client.ts';
import { LUNCH } from '../../support/api/records.ts';

// DynamoDB takes about this long for a transaction of eight items.
const TRANSACTION_MS = 20;
const WRITERS = 64;

let table: TestTable;

beforeAll(async () => {
  table = await createTestTable();
});

/** Creates independent writers, like the instances of a Lambda function. */
function givenWriters(ledgerId: string, seed: number) {
  const time = createVirtualTime();
  const client = createContendedClient(time.watch(table.client), {
    time,
    lockedMs: TRANSACTION_MS,
  });
  const writers = Array.from({ length: WRITERS }, (_, index) => {
    const retryPolicy = createVirtualRetryPolicy(time, createSeededRandom(seed + index).next);
    const options = { ...table, client, ledgerId, timeZone: 'UTC', retryPolicy };
    return createLedgerService({ ...options, timeoutSignal: time.timeoutSignal });
  });
  return { time, client, writers };
}

describe.each(oneInEvery(3, [1, 2, 3]))(
  '64 concurrent creates in one month of one category (seed %i)',
  (seed) => {
    it('all succeed within the deadline, and are counted exactly', async () => {
      const ledgerId = `contended-${seed}`;
      const uncontended = openLedger({ ...table, ledgerId, timeZone: 'UTC' });
      await uncontended.categories.create({
        name: 'Food',
        description: null,
        color: null,
        isActive: true,
      });
      const { time, client, writers } = givenWriters(ledgerId, seed * 1_000);

      const responses = await time.run(
        Promise.all(
          writers.map(async (service, index) => {
            const transaction_date = `2026-03-${String(1 + (index % 28)).padStart(2, '0')}`;
            const api = await openInProcess(service);
            return await api.post('/transactions', { ...LUNCH, category_id: 1, transaction_date });
          }),
        ),
      );

      expect(responses.map(({ status }) => status)).toEqual(Array(WRITERS).fill(201));
      expect(await createVerification({ ...table, ledgerId }).verify()).toEqual({
        rows: WRITERS,
        categories: 1,
        drifts: [],
      });
      expect(client.conflicts()).toBeGreaterThan(WRITERS);
      expect(time.now()).toBeLessThan(DEFAULT_RETRY_POLICY.deadlineMs);
    });
  },
);
