// Many concurrent updates of one transaction, with slow calls: every update that succeeds is kept, and needs few calls, because
// a write that loses a race fails with the current record.
import { beforeAll, describe, expect, it } from 'vitest';
import { createContendedClient } from '../../../../bench/ledger/contended-client.ts';
import {
  createVirtualRetryPolicy,
  createVirtualTime,
} from '../../../../bench/ledger/virtual-time.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { createSeededRandom } from '../../../../cli/seeded-random.ts';
import { createLedgerService } from '../../../../lib/ledger/ledger.ts';
import { interpose } from '../../../shared/support/interposed-client.ts';
import { createTestTable, type TestTable } from '../../../shared/support/test-table.ts';
import { openInProcess } from '../../support/api/in-process-client.ts';
import { createServiceOn } from '../../support/api/open-api.ts';
import { LUNCH } from '../../support/api/records.ts';

// Times that a call takes to reach the table, and that a transaction takes in the table.
const TRAVEL_MS = 3;
const TRANSACTION_MS = 20;

let table: TestTable;

beforeAll(async () => {
  table = await createTestTable();
});

async function race(writers: number, seed: number) {
  const ledgerId = `updated-${writers}-${seed}`;
  const options = { ...table, ledgerId, timeZone: 'UTC' };
  const uncontendedApi = await openInProcess(createServiceOn(options));
  await uncontendedApi.post('/transactions', LUNCH);
  const time = createVirtualTime();
  const contended = createContendedClient(time.watch(table.client), {
    time,
    lockedMs: TRANSACTION_MS,
  });
  let calls = 0;
  const client = interpose(contended, async () => {
    calls += 1;
    await time.sleep(TRAVEL_MS);
  });
  const update = async (_: unknown, n: number) => {
    const retryPolicy = createVirtualRetryPolicy(time, createSeededRandom(seed * 1_000 + n).next);
    const api = await openInProcess(
      createLedgerService({ ...options, client, retryPolicy, timeoutSignal: time.timeoutSignal }),
    );
    return await api.put('/transactions/1', { notes: `of writer ${n}` });
  };
  const responses = await time.run(Promise.all(Array.from({ length: writers }, update)));
  const { version } = await openLedger(options).transactions.find('1');
  const statuses = responses.map(({ status }) => status);
  const failed = responses.filter(({ status }) => status === 500);
  const canRetry = failed.every(({ headers }) => headers['retry-after'] === '1');
  return { statuses, canRetry, calls, updates: version - 1 };
}

describe.each([1, 2, 3])('concurrent updates of one transaction (seed %i)', (seed) => {
  it('all succeed if there are 64', async () => {
    const { statuses, calls, updates } = await race(64, seed);
    expect(statuses).toEqual(Array(64).fill(200));
    expect(updates).toBe(64);
    // If each conflict cost a sleep and another read, there would be 18 to 22 calls per update.
    expect(calls / updates).toBeLessThan(17);
  });

  it('succeed as time allows if there are 128, and a request that gets a 500 has changed nothing', async () => {
    const { statuses, canRetry, calls, updates } = await race(128, seed);
    const succeeded = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 500]));
    expect([updates, canRetry]).toEqual([succeeded, true]);
    // With a sleep and another read after each conflict, only 57 to 59 would succeed, with 50 calls each.
    expect(succeeded).toBeGreaterThan(75);
    expect(calls / updates).toBeLessThan(35);
  });
});
