// Whatever goes wrong with any call of any operation: the answer is right or a 500, and a request is applied whole or not at all.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLedgerService } from '../../../lib/ledger/ledger.ts';
import { createVerification } from '../../../lib/ledger/verification.ts';
import { DEFAULT_RETRY_POLICY } from '../../../lib/retry.ts';
import { bulkLoad } from '../../../local/bulk-loader.ts';
import { openLedger } from '../../../local/open-ledger.ts';
import type { Api, ApiResponse, ResponseBody } from '../../support/api/api-client.ts';
import { openInProcess } from '../../support/api/in-process-client.ts';
import { LUNCH } from '../../support/api/records.ts';
import { readContents } from '../../support/ledger-contents.ts';
import {
  createFaultyClient,
  denied,
  type Fault,
  PASSING_FAULTS,
  refused,
} from '../../support/store-faults.ts';
import { createTestTable, type TestTable } from '../../support/test-table.ts';
import { createVirtualRetryPolicy, createVirtualTime } from '../../support/virtual-time.ts';

interface Operation {
  readonly name: string;
  readonly ask: (api: Api) => Promise<ApiResponse>;
  readonly status: number;
  /** The document's message of its 500. */
  readonly failure: string;
  readonly isRead?: true;
}

// Each the way that makes the most calls and writes the most items.
const OPERATIONS: readonly Operation[] = [
  {
    name: 'list transactions',
    ask: (api) =>
      api.get('/transactions', {
        ...{ start_date: '2026-01-02', end_date: '2026-04-29', category_id: 1 },
      }),
    ...{ status: 200, failure: 'Failed to retrieve transactions', isRead: true },
  },
  {
    name: 'create transaction',
    ask: (api) => api.post('/transactions', { ...LUNCH, category_id: 1, notes: 'Note' }),
    ...{ status: 201, failure: 'Failed to create transaction' },
  },
  {
    name: 'read transaction',
    ask: (api) => api.get('/transactions/1'),
    ...{ status: 200, failure: 'Failed to retrieve transaction', isRead: true },
  },
  {
    name: 'update transaction',
    ask: (api) => {
      const place = { category_id: 2, transaction_date: '2025-01-01' };
      return api.put('/transactions/1', { type: 'income', ...place });
    },
    ...{ status: 200, failure: 'Failed to update transaction' },
  },
  {
    name: 'update transaction in its category',
    ask: (api) => api.put('/transactions/1', { notes: 'Note' }),
    ...{ status: 200, failure: 'Failed to update transaction' },
  },
  {
    name: 'delete transaction',
    ask: (api) => api.delete('/transactions/2'),
    ...{ status: 200, failure: 'Failed to delete transaction' },
  },
  {
    name: 'list categories',
    ask: (api) => api.get('/categories', { include_counts: true }),
    ...{ status: 200, failure: 'Failed to retrieve categories', isRead: true },
  },
  {
    name: 'create category',
    ask: (api) => api.post('/categories', { name: 'New', color: '#123' }),
    ...{ status: 201, failure: 'Failed to create category' },
  },
  {
    name: 'read category',
    ask: (api) => api.get('/categories/1'),
    ...{ status: 200, failure: 'Failed to retrieve category', isRead: true },
  },
  {
    name: 'update category',
    ask: (api) => api.put('/categories/1', { name: 'Renamed', is_active: false }),
    ...{ status: 200, failure: 'Failed to update category' },
  },
  {
    name: 'delete category',
    ask: (api) => api.delete('/categories/3'),
    ...{ status: 200, failure: 'Failed to delete category' },
  },
];

let table: TestTable;
let ledgers = 0;

beforeAll(async () => {
  table = await createTestTable();
});

// A 500 has its log line, which is not for the test's own output.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** Categories 1 and 2 in use and 3 not; transactions on three days of two months. */
async function givenLedger(): Promise<string> {
  ledgers += 1;
  const ledgerId = `ledger-${ledgers}`;
  const written = { createdAt: 1_767_225_600_000, updatedAt: 1_767_225_600_000, version: 1 };
  const category = { description: null, color: null, isActive: true, transactionCount: 0 };
  const row = { amount: 1.5, notes: null, type: 'expense' } as const;
  await bulkLoad(
    { client: table.client, tableName: table.tableName, ledgerId },
    ['Food', 'Pay', 'Spare'].map((name, index) => ({
      ...{ ...category, ...written, name, id: index + 1 },
    })),
    [
      { ...row, ...written, id: 1, description: 'A', categoryId: 1, date: '2026-03-05' },
      { ...row, ...written, id: 2, description: 'B', categoryId: 1, date: '2026-03-05' },
      { ...row, ...written, id: 3, description: 'C', categoryId: 2, date: '2026-02-28' },
      { ...row, ...written, id: 4, description: 'D', categoryId: null, date: '2026-03-04' },
    ],
  );
  return ledgerId;
}

interface Reply {
  readonly status: number;
  readonly body: ResponseBody;
}

interface Run {
  readonly reply: Reply;
  readonly calls: number;
  readonly delays: readonly number[];
  readonly tookMs: number;
  readonly contents: Awaited<ReturnType<typeof readContents>>;
}

/** Runs an operation while faults befall its calls, and has the ledger verified afterwards. */
async function run(
  { ask }: Operation,
  faultAt: (call: number) => Fault | undefined = () => undefined,
): Promise<Run> {
  const ledgerId = await givenLedger();
  const time = createVirtualTime();
  const retryPolicy = createVirtualRetryPolicy(time);
  const client = createFaultyClient(time.watch(table.client), faultAt);
  const { timeoutSignal } = time;
  const options = { ...optionsOf(ledgerId), client, retryPolicy, timeoutSignal };
  const api = await openInProcess(createLedgerService(options));
  const { status, body } = await time.run(ask(api));
  const { drifts } = await createVerification({ ...table, ledgerId }).verify();
  expect(drifts).toEqual([]);
  const contents = await readContents(openLedger(optionsOf(ledgerId)));
  const reply = { status, body };
  return { reply, calls: client.calls(), delays: retryPolicy.delays, tookMs: time.now(), contents };
}

function optionsOf(ledgerId: string) {
  const clock = () => new Date('2026-03-31T12:00:00Z');
  return { ...table, ledgerId, timeZone: 'UTC', clock };
}

function expectFailure({ reply }: Run, message: string): void {
  expect(reply).toEqual({
    status: 500,
    body: { success: false, error: 'internal_server_error', message },
  });
}

describe.each(OPERATIONS)('$name', (operation) => {
  let smooth: Run;
  let before: Run['contents'];

  beforeAll(async () => {
    smooth = await run(operation);
    before = await readContents(openLedger(optionsOf(await givenLedger())));
  });

  it('answers and applies once where nothing goes wrong', () => {
    const { reply, contents } = smooth;
    expect(reply).toMatchObject({ status: operation.status, body: { success: true } });
    if (operation.isRead) expect(contents).toEqual(before);
    else expect(contents).not.toEqual(before);
  });

  it.each(Object.entries(PASSING_FAULTS))(
    'gives the same answer and applies once, whichever call meets a %s twice',
    async (_, fault) => {
      for (let at = 0; at < smooth.calls; at += 1) {
        const faulty = await run(operation, (call) =>
          call === at || call === at + 1 ? fault : undefined,
        );
        expect({ at, ...faulty.reply }).toEqual({ at, ...exceptNewId(smooth, faulty) });
        expect(faulty.contents).toEqual(smooth.contents);
      }
    },
  );

  it('ends inside the deadline with its 500, whichever call the store dies at, applied whole or not at all', async () => {
    for (let at = 0; at < smooth.calls; at += 1) {
      const dead = await run(operation, (call) => (call >= at ? refused : undefined));
      expectFailure(dead, operation.failure);
      expect(dead.contents).toEqual(before);
      expect(dead.tookMs).toBeLessThanOrEqual(DEFAULT_RETRY_POLICY.deadlineMs);
      expect(dead.delays.length).toBeGreaterThan(3);
    }
  });

  it('ends with its 500 where the store applies a call and dies before it answers', async () => {
    for (let at = 0; at < smooth.calls; at += 1) {
      const dead = await run(operation, (call) =>
        call < at ? undefined : call === at ? PASSING_FAULTS['reset after applying'] : refused,
      );
      expectFailure(dead, operation.failure);
      expect([before, smooth.contents]).toContainEqual(dead.contents);
    }
  });

  it('ends at once with its 500 where the store denies a call', async () => {
    for (let at = 0; at < smooth.calls; at += 1) {
      const rejected = await run(operation, (call) => (call === at ? denied : undefined));
      expectFailure(rejected, operation.failure);
      expect(rejected.contents).toEqual(before);
      expect(rejected.delays).toEqual([]);
    }
  });
});

/** The smooth reply, but that an id may have been left out where the answer that carried it was lost. */
function exceptNewId({ reply }: Run, faulty: Run): Reply {
  const data = reply.body.data;
  if (reply.status !== 201 || typeof data !== 'object') return reply;
  const { id } = faulty.reply.body.data;
  return { ...reply, body: { ...reply.body, data: { ...data, id } } };
}
