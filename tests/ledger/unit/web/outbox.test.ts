// The outbox of the page: a write is retried with the same key after a lost response, survives a reload, and is never sent to
// another ledger.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError, type Call } from '../../../../web/page/api-error.ts';
import { createJournal, type Locks } from '../../../../web/page/journal.ts';
import { createOutbox } from '../../../../web/page/outbox.ts';
import type { Row } from '../../../../web/page/rows.ts';
import type { Refusal } from '../../../../web/page/send-write.ts';

const FIELDS = {
  description: 'Lunch',
  amount: 12.5,
  type: 'expense',
  category_id: null,
  transaction_date: '2026-10-25',
  notes: null,
} as const;

function createRow(id: number, changes: Partial<Row> = {}): Row {
  return {
    ...FIELDS,
    id,
    created_at: '2026-10-25T00:00:00.000Z',
    updated_at: '2026-10-25T00:00:00.000Z',
    etag: `"t${id}.1.0"`,
    ...changes,
  };
}

interface SentRequest extends Call {
  readonly path: string;
}

interface Bulk {
  readonly transactions: readonly object[];
}

/** The storage of a device, and the names of the locks that its open pages hold */
interface Device {
  readonly stored: Map<string, string>;
  readonly heldLocks: Set<string>;
}

const createDevice = (): Device => ({ stored: new Map(), heldLocks: new Set() });

/** A tab with its own storage; a duplicated tab begins with a copy. */
type Tab = Map<string, string>;

const storageOf = (stored: Map<string, string>) => ({
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, text: string) => {
    stored.set(name, text);
    return true;
  },
  removeItem: (name: string) => void stored.delete(name),
  listNames: () => [...stored.keys()],
});

interface OpenedPage {
  readonly device?: Device;
  readonly tab?: Tab;
  readonly ledger?: string;
  /** True if the storage of the device is full. */
  readonly isFull?: boolean;
}

function openOutbox(options: OpenedPage = {}) {
  const { device = createDevice(), tab = new Map(), ledger = 'home', isFull = false } = options;
  const requests: SentRequest[] = [];
  const replies: (object | Error)[] = [];
  const refused: Refusal[] = [];
  const defects: unknown[] = [];
  const heldLocks = new Set<string>();
  const request: Locks['request'] = async (name, { ifAvailable }, run) => {
    const isFree = !device.heldLocks.has(name);
    if (!isFree && !ifAvailable) throw new Error('The earlier page is still open.');
    if (isFree) heldLocks.add(name);
    device.heldLocks.add(name);
    const result = await run(isFree ? { name } : null);
    if (isFree) device.heldLocks.delete(name);
    return result;
  };
  const outbox = createOutbox({
    call: async <Body>(path: string, request: Call = {}) => {
      requests.push({ path, ...request });
      const reply = replies.shift() ?? { data: createRow(7) };
      if (reply instanceof Error) throw reply;
      return reply as Body;
    },
    journal: createJournal({
      device: { ...storageOf(device.stored), ...(isFull && { setItem: () => false }) },
      tab: storageOf(tab),
      locks: { request },
    }),
    onCreated: () => undefined,
    onConfirmed: () => undefined,
    onRefused: (refusals) => void refused.push(...refusals),
    onUnauthenticated: () => undefined,
    onDefect: (error) => void defects.push(error),
  });
  void outbox.open(ledger);
  /** Closes the page, and releases its locks as the browser does. */
  const closePage = () => {
    outbox.close();
    for (const name of heldLocks) device.heldLocks.delete(name);
  };
  return { outbox, requests, replies, refused, defects, device, tab, closePage };
}

/** Creates the first row of an outbox. @returns the row, with its temporary id */
function createFirstRow(outbox: ReturnType<typeof openOutbox>['outbox']): Row {
  outbox.create(FIELDS);
  const createdRow = outbox.writes.value[0]?.changes[0]?.after;
  if (!createdRow) throw new Error('Nothing was created.');
  return createdRow;
}

const runPending = () => vi.advanceTimersByTimeAsync(0);

describe('the outbox', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  test('retries a write with the same key after its response was lost', async () => {
    const { outbox, requests, replies } = openOutbox();
    replies.push(new ApiError('lost'), new ApiError('lost'));
    outbox.create(FIELDS);
    await runPending();
    expect([outbox.isInterrupted.value, outbox.waiting.value.length]).toEqual([true, 1]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(requests).toHaveLength(3);
    const keys = requests.map(({ headers }) => headers?.['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
    expect(new Set(keys).size).toBe(1);
    expect([outbox.isInterrupted.value, outbox.waiting.value.length]).toEqual([false, 0]);
  });

  test('waits twice as long before each retry, up to 20 seconds', async () => {
    const { outbox, requests, replies } = openOutbox();
    const pauses = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000];
    replies.push(...pauses.map(() => new ApiError('lost')));
    outbox.create(FIELDS);
    await runPending();
    for (const [n, pause] of pauses.entries()) {
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(requests).toHaveLength(n + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(requests).toHaveLength(n + 2);
    }
    expect(outbox.waiting.value).toEqual([]);
  });

  test('knows that a create has no response yet, so that views wait for its next attempt', async () => {
    const first = openOutbox();
    first.replies.push(new ApiError('lost'));
    first.outbox.create(FIELDS);
    await runPending();
    first.closePage();
    const { outbox, requests, replies } = openOutbox({ device: first.device, ledger: 'another' });
    expect([outbox.isCreating(), requests.length]).toEqual([false, 0]);
    replies.push(new ApiError('lost again'));
    await outbox.open('home');
    expect([outbox.isCreating(), requests.length]).toEqual([true, 1]);
    await outbox.retryNow();
    expect([outbox.isCreating(), requests.length]).toEqual([false, 2]);
  });

  test('reports an error of the page itself, and reverts its write', async () => {
    const { outbox, requests, replies, refused, defects } = openOutbox();
    const defect = new TypeError('undefined is not a function');
    replies.push(defect);
    outbox.create(FIELDS);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toHaveLength(1);
    expect(outbox.writes.value).toEqual([]);
    expect(refused.map(({ error }) => error.message)).toEqual([
      'The page failed: TypeError: undefined is not a function. Reload it, and try again.',
    ]);
    expect(defects).toEqual([defect]);
  });

  test('resumes writes without a response after a reload, with the same key', async () => {
    const first = openOutbox();
    first.replies.push(new ApiError('lost'));
    first.outbox.create(FIELDS);
    await runPending();
    first.closePage();
    const second = openOutbox(first);
    await runPending();
    expect(second.requests[0]?.headers).toEqual(first.requests[0]?.headers);
    second.closePage();
    const third = openOutbox(first);
    await runPending();
    expect(third.requests).toEqual([]);
  });

  test('sends the writes of a closed tab from another page of the same ledger, with the same key', async () => {
    const open = openOutbox();
    const closed = openOutbox({ device: open.device });
    closed.replies.push(new ApiError('lost'));
    createFirstRow(closed.outbox);
    await runPending();
    await open.outbox.takeOver();
    expect(open.requests).toEqual([]);
    closed.closePage();
    await open.outbox.takeOver();
    expect(open.requests.map(({ headers }) => headers)).toEqual([closed.requests[0]?.headers]);
    const next = openOutbox({ device: open.device });
    await runPending();
    expect([next.requests.length, open.device.stored.size]).toEqual([0, 0]);
  });

  test('takes over no write from a page that is still open, such as the original of a duplicated tab', async () => {
    const first = openOutbox();
    first.outbox.remove([createRow(8)]);
    const duplicate = openOutbox({ device: first.device, tab: new Map(first.tab) });
    await vi.advanceTimersByTimeAsync(60_000);
    expect([first.requests.length, duplicate.requests.length]).toEqual([1, 0]);
  });

  test('takes over each write once, even if a crash left the write in two entries', async () => {
    const first = openOutbox();
    first.replies.push(new ApiError('lost'));
    const { id } = createFirstRow(first.outbox);
    await runPending();
    first.closePage();
    const { stored } = first.device;
    for (const [name, text] of [...stored]) stored.set(`${name} again`, text);
    // The clock was set back meanwhile.
    vi.setSystemTime(0);
    const next = openOutbox(first);
    next.replies.push(new ApiError('lost again'));
    await runPending();
    expect([next.requests.length, next.outbox.waiting.value.length]).toEqual([1, 1]);
    next.outbox.create(FIELDS);
    expect(next.outbox.waiting.value[1]?.changes[0]?.after?.id).toBeLessThan(id);
  });

  test('neither sends nor shows the writes of another ledger, but keeps them', async () => {
    const first = openOutbox();
    first.replies.push(new ApiError('lost'));
    first.outbox.create(FIELDS);
    first.outbox.remove([createRow(8)]);
    await runPending();
    first.closePage();
    const another = openOutbox({ ...first, ledger: 'another' });
    const { outbox, requests } = another;
    await vi.advanceTimersByTimeAsync(60_000);
    outbox.undoRemovals();
    outbox.flush();
    expect(requests).toEqual([]);
    const lists = [outbox.writes, outbox.waiting, outbox.undoable];
    expect(lists.flatMap(({ value }) => value)).toEqual([]);
    another.closePage();
    const reopened = openOutbox(first);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reopened.requests.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });

  test('neither sends nor shows its own writes of another ledger, until that ledger is opened again', async () => {
    const { outbox, requests } = openOutbox();
    outbox.close();
    outbox.create(FIELDS);
    outbox.remove([createRow(8)]);
    void outbox.open('another');
    outbox.flush();
    await vi.advanceTimersByTimeAsync(60_000);
    const lists = [outbox.writes, outbox.waiting, outbox.undoable];
    expect([requests, ...lists.map(({ value }) => value)]).toEqual([[], [], [], []]);
    void outbox.open('home');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });

  test('sends the writes that a page of an earlier release kept in its tab, in their own ledgers', async () => {
    const earlier = openOutbox();
    earlier.replies.push(new ApiError('lost'));
    createFirstRow(earlier.outbox);
    await runPending();
    earlier.closePage();
    const [kept = ''] = earlier.device.stored.values();
    const writes: readonly object[] = JSON.parse(kept);
    const foreign = writes.map((each) => ({ ...each, key: 'foreign', ledger: 'another' }));
    const tab = new Map([['outbox', JSON.stringify([...writes, ...foreign])]]);
    const page = openOutbox({ tab });
    await runPending();
    expect(page.requests.map(({ headers }) => headers)).toEqual([earlier.requests[0]?.headers]);
    page.closePage();
    const another = openOutbox({ ...page, ledger: 'another' });
    await runPending();
    expect(another.requests.map(({ headers }) => headers?.['idempotency-key'])).toEqual([
      'foreign',
    ]);
    another.closePage();
    expect(page.device.stored.size).toBe(0);
  });

  test('asks which version to keep if a write that it takes over changes a row that the page has changed', async () => {
    const open = openOutbox();
    const closed = openOutbox({ device: open.device });
    closed.replies.push(new ApiError('lost'));
    const seven = createRow(7);
    void closed.outbox.update([{ before: createRow(8), after: createRow(8, { amount: 5 }) }]);
    void closed.outbox.update([{ before: seven, after: createRow(7, { amount: 5 }) }]);
    await runPending();
    closed.closePage();
    const newer = createRow(7, { amount: 9, etag: '"t7.2.0"' });
    open.replies.push({ data: newer }, { data: createRow(8, { amount: 5, etag: '"t8.2.0"' }) });
    open.replies.push(new ApiError('', { status: 412, isRetryable: false }), { data: newer });
    void open.outbox.update([{ before: seven, after: createRow(7, { amount: 9 }) }]);
    await runPending();
    await open.outbox.takeOver();
    expect(open.requests[2]?.headers).toEqual({ 'if-match': seven.etag });
    expect(open.outbox.conflicts.value.get(7)).toMatchObject({
      mine: { amount: 5 },
      theirs: newer,
    });
  });

  test('keeps a write until a key with write access is used', async () => {
    const { outbox, requests, refused } = openOutbox();
    outbox.close();
    outbox.create(FIELDS);
    outbox.open('home', { canWrite: false });
    await vi.advanceTimersByTimeAsync(60_000);
    expect([requests.length, refused.length, outbox.waiting.value.length]).toEqual([0, 0, 1]);
    outbox.open('home');
    await runPending();
    expect([requests.length, outbox.waiting.value.length]).toEqual([1, 0]);
  });

  test('does not retry a write after the service has forgotten its Idempotency-Key', async () => {
    const { outbox, requests, replies, refused } = openOutbox();
    replies.push(new ApiError('lost'));
    outbox.create(FIELDS);
    await runPending();
    outbox.close();
    await vi.advanceTimersByTimeAsync(21 * 3_600_000);
    outbox.open('home');
    await vi.advanceTimersByTimeAsync(60_000);
    expect([requests.length, refused.length, outbox.waiting.value.length]).toEqual([1, 1, 0]);
  });

  test('does not retry a day-old write whose page was closed before any response', async () => {
    const first = openOutbox();
    first.replies.push(new Promise(() => undefined));
    first.outbox.create(FIELDS);
    await runPending();
    expect(first.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(21 * 3_600_000);
    first.closePage();
    const { requests, refused } = openOutbox(first);
    await runPending();
    expect([requests.length, refused.length]).toEqual([0, 1]);
  });

  test('sends a write that needed an API key once a key is entered', async () => {
    const { outbox, requests, replies } = openOutbox();
    replies.push(new ApiError('Who?', { status: 401, isRetryable: false }));
    outbox.create(FIELDS);
    await vi.advanceTimersByTimeAsync(21 * 3_600_000);
    outbox.open('home');
    await runPending();
    expect([requests.length, outbox.waiting.value.length]).toEqual([2, 0]);
  });

  test('sends a change to a row that is still being created with its final id', async () => {
    const { outbox, requests } = openOutbox();
    const createdRow = createFirstRow(outbox);
    void outbox.update([{ before: createdRow, after: { ...createdRow, amount: 3 } }]);
    await runPending();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /transactions',
      'PUT /transactions/7',
    ]);
    expect(requests[1]).toMatchObject({ body: { amount: 3 }, headers: { 'if-match': '"t7.1.0"' } });
  });

  test('uses each temporary id once, even across a reload, because a draft may still have it', async () => {
    const first = openOutbox();
    const { id } = createFirstRow(first.outbox);
    await runPending();
    first.closePage();
    vi.advanceTimersByTime(1000);
    expect(createFirstRow(openOutbox(first).outbox).id).not.toBe(id);
  });

  test('reports the refused creation of a row together with later changes to the row', async () => {
    const { outbox, requests, replies, refused } = openOutbox();
    replies.push(new ApiError('refused', { status: 422, isRetryable: false }));
    const createdRow = createFirstRow(outbox);
    const onUpdated = vi.fn();
    void outbox
      .update([{ before: createdRow, after: { ...createdRow, amount: 3 } }])
      .then(onUpdated);
    // The update of an existing row does not wait for the row that is still being created.
    void outbox.update([
      { before: createdRow, after: { ...createdRow, amount: 4 } },
      { before: createRow(8), after: createRow(8, { amount: 5 }) },
    ]);
    await runPending();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /transactions',
      'PUT /transactions/8',
    ]);
    expect(refused.map(({ change }) => change)).toEqual([
      { after: expect.objectContaining({ id: createdRow.id, amount: 4 }) },
    ]);
    expect(onUpdated).toHaveBeenCalledWith(refused);
    expect(outbox.waiting.value).toEqual([]);
  });

  test('does not report the refused creation of a row that has been deleted', async () => {
    const { outbox, requests, replies, refused } = openOutbox();
    replies.push(new ApiError('lost'), new ApiError('', { status: 422, isRetryable: false }));
    const createdRow = createFirstRow(outbox);
    await runPending();
    outbox.remove([createdRow]);
    // The row was never created, so it has no id by which it could be deleted.
    outbox.flush();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests.map(({ path }) => path)).toEqual(['/transactions', '/transactions']);
    expect([refused.length, outbox.waiting.value.length]).toEqual([0, 0]);
  });

  test('uses the final id to delete a row that was deleted while it was being created', async () => {
    const { outbox, requests, replies } = openOutbox();
    replies.push(new ApiError('lost'));
    const createdRow = createFirstRow(outbox);
    await runPending();
    outbox.remove([createdRow]);
    outbox.flush();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(requests.map(({ path }) => path)).toEqual([
      '/transactions',
      '/transactions',
      '/transactions/7',
    ]);
  });

  test('uses the final id to change a row that left the list before it got that id', async () => {
    const { outbox, requests } = openOutbox();
    const createdRow = createFirstRow(outbox);
    await runPending();
    expect([outbox.keyOf(7), outbox.keyOf(8)]).toEqual([createdRow.id, 8]);
    void outbox.update([{ before: createdRow, after: { ...createdRow, amount: 3 } }]);
    expect(outbox.waiting.value[0]?.changes[0]?.after).toMatchObject({ id: 7, amount: 3 });
    await runPending();
    expect(requests[1]).toMatchObject({
      path: '/transactions/7',
      headers: { 'if-match': '"t7.1.0"' },
    });
  });

  test('sends writes one at a time, and overwrites only versions that the page has read', async () => {
    const { outbox, requests, replies } = openOutbox();
    const createVersion = (n: number, amount: number) =>
      createRow(7, { amount, etag: `"t7.${n}.0"` });
    replies.push(
      { data: createVersion(3, 3) },
      new ApiError('', { status: 412, isRetryable: false }),
      {
        data: createVersion(3, 3),
      },
    );
    void outbox.update([{ before: createVersion(2, 2), after: createVersion(2, 3) }]);
    // An editor that was opened before a write of another tab still has the old version.
    void outbox.update([{ before: createVersion(1, 1), after: createVersion(1, 9) }]);
    await runPending();
    void outbox.update([{ before: createVersion(2, 2), after: createVersion(2, 4) }]);
    await runPending();
    const puts = requests.filter(({ method }) => method === 'PUT');
    expect(puts.map(({ headers }) => headers?.['if-match'])).toEqual([
      '"t7.2.0"',
      '"t7.1.0"',
      '"t7.3.0"',
    ]);
    expect(outbox.conflicts.value.size).toBe(1);
  });

  test.each([
    ['confirms a write to an outdated version if the row has the written values', { amount: 3 }, 0],
    ['reports a conflict for a write to an outdated version if the row differs', { amount: 4 }, 1],
  ])('%s', async (_, theirs, conflicts) => {
    const { outbox, replies } = openOutbox();
    replies.push(new ApiError('', { status: 412, isRetryable: false }), {
      data: createRow(7, theirs),
    });
    void outbox.update([{ before: createRow(7), after: createRow(7, { amount: 3 }) }]);
    await runPending();
    expect([outbox.conflicts.value.size, outbox.waiting.value.length]).toEqual([conflicts, 0]);
  });

  test.each([
    [
      'forgets its earlier writes to a row that was deleted elsewhere',
      [new ApiError('', { status: 404 })],
      0,
    ],
    [
      'keeps its earlier writes to a row that was changed elsewhere',
      [{ data: createRow(7, { amount: 4 }) }],
      1,
    ],
  ])('%s', async (_, readReplies, remaining) => {
    const { outbox, replies } = openOutbox();
    const [first, second] = [createRow(7), createRow(8)];
    replies.push({ data: createRow(7, { amount: 3 }) }, { data: createRow(8, { amount: 3 }) });
    outbox.update([{ before: first, after: { ...first, amount: 3 } }]);
    outbox.update([{ before: second, after: { ...second, amount: 3 } }]);
    await runPending();
    replies.push(new ApiError('', { status: 412 }), ...readReplies);
    outbox.update([{ before: createRow(7, { amount: 3 }), after: { ...first, amount: 5 } }]);
    await runPending();
    expect(outbox.conflicts.value.size).toBe(1);
    outbox.resolveConflict(7);
    expect(outbox.conflicts.value.size).toBe(0);
    const shownIds = outbox.writes.value.flatMap(({ changes }) =>
      changes.map(({ after }) => after?.id),
    );
    expect(shownIds.filter((id) => id === 7)).toHaveLength(remaining);
    expect(shownIds).toContain(8);
  });

  test('asks again after a reload which version to keep, until the user chooses', async () => {
    const createConflict = () => [
      new ApiError('', { status: 412, isRetryable: false }),
      { data: createRow(7, { amount: 4 }) },
    ];
    const first = openOutbox();
    first.replies.push(...createConflict());
    void first.outbox.update([{ before: createRow(7), after: createRow(7, { amount: 3 }) }]);
    await runPending();
    expect([first.outbox.writes.value, first.outbox.waiting.value]).toEqual([[], []]);
    first.closePage();
    const second = openOutbox(first);
    second.replies.push(...createConflict());
    await runPending();
    expect(second.outbox.conflicts.value.get(7)?.mine.amount).toBe(3);
    second.outbox.resolveConflict(7);
    second.closePage();
    const third = openOutbox(first);
    await runPending();
    expect(third.requests).toEqual([]);
  });

  test('sends its writes without a long pause after the clock was set back', async () => {
    const { outbox, requests, replies } = openOutbox();
    replies.push(new ApiError('lost'));
    outbox.create(FIELDS);
    await runPending();
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([requests.length, outbox.waiting.value.length]).toEqual([2, 0]);
  });

  test('returns a conflict to the caller that made the change', async () => {
    const { outbox, replies, refused } = openOutbox();
    const theirs = { data: createRow(7, { amount: 4 }) };
    replies.push(new ApiError('', { status: 412, isRetryable: false }), theirs);
    const onUpdated = vi.fn();
    void outbox
      .update([{ before: createRow(7), after: createRow(7, { amount: 3 }) }])
      .then(onUpdated);
    await runPending();
    expect(onUpdated).toHaveBeenCalledWith([
      expect.objectContaining({ change: expect.objectContaining({ before: createRow(7) }) }),
    ]);
    // A conflict is not a refusal: the row asks which version to keep.
    expect([refused.length, outbox.conflicts.value.size]).toEqual([0, 1]);
  });

  test('sends writes from memory while the storage of the device is full', async () => {
    const { outbox, requests } = openOutbox({ isFull: true });
    outbox.create(FIELDS);
    expect(outbox.isAtRisk()).toBe(true);
    void outbox.update([{ before: createRow(7), after: createRow(7, { amount: 3 }) }]);
    await runPending();
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PUT']);
    expect([outbox.isInterrupted.value, outbox.waiting.value.length]).toEqual([false, 0]);
    expect(outbox.isAtRisk()).toBe(false);
  });

  test('delays a deletion for ten seconds, and never sends one that is undone', async () => {
    const { outbox, requests } = openOutbox();
    outbox.remove([createRow(1)]);
    await vi.advanceTimersByTimeAsync(9_900);
    expect([requests.length, outbox.undoable.value.length]).toEqual([0, 1]);
    outbox.undoRemovals();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toEqual([]);
    outbox.remove([createRow(2)]);
    await vi.advanceTimersByTimeAsync(10_100);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /transactions/2',
    ]);
  });

  test('sends a deletion at once when the page is hidden, and only once', async () => {
    const { outbox, requests } = openOutbox();
    outbox.remove([createRow(1)]);
    outbox.flush();
    outbox.flush();
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([requests.length, outbox.undoable.value.length]).toEqual([1, 0]);
  });

  test('sends a deletion after an earlier change to the same row when the page is hidden', async () => {
    const { outbox, requests, replies } = openOutbox();
    const changed = Promise.withResolvers<object>();
    replies.push(changed.promise);
    void outbox.update([{ before: createRow(7), after: createRow(7, { amount: 3 }) }]);
    outbox.remove([createRow(7)]);
    outbox.remove([createRow(8)]);
    await runPending();
    outbox.flush();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /transactions/7',
      'DELETE /transactions/8',
    ]);
    changed.resolve({ data: createRow(7, { amount: 3, etag: '"t7.2.0"' }) });
    await runPending();
    expect(requests[2]).toMatchObject({ method: 'DELETE', headers: { 'if-match': '"t7.2.0"' } });
    expect([requests.length, outbox.waiting.value.length]).toEqual([3, 0]);
  });

  test('accepts a 404 for a deletion, but not for a change', async () => {
    const { outbox, replies } = openOutbox();
    const results = [
      { index: 0, status: 404, message: 'No such row' },
      { index: 1, status: 200 },
    ];
    replies.push({ data: { results } }, { data: { results } });
    const rows = [createRow(1), createRow(2)];
    const refused = await outbox.update(
      rows.map((before) => ({ before, after: { ...before, category_id: 3 } })),
    );
    expect(refused.map(({ change }) => change.before?.id)).toEqual([1]);
    outbox.remove(rows);
    outbox.flush();
    await runPending();
    const removed = outbox.writes.value.flatMap(({ changes }) =>
      changes.filter(({ after }) => !after),
    );
    expect(removed.map(({ before }) => before?.id)).toEqual([1, 2]);
  });

  test('sends 250 changes in three requests, and reverts the refused change', async () => {
    const { outbox, requests, replies, refused } = openOutbox();
    const createBulkResponse = (length: number, refusedIndex: number) => ({
      data: {
        results: Array.from({ length }, (_, index) =>
          index === refusedIndex
            ? { index, status: 412, message: 'changed' }
            : { index, status: 200 },
        ),
      },
    });
    replies.push(
      createBulkResponse(100, 5),
      new ApiError('lost'),
      createBulkResponse(100, -1),
      createBulkResponse(50, -1),
    );
    const changes = Array.from({ length: 250 }, (_, n) => ({
      before: createRow(n + 1),
      after: createRow(n + 1, { category_id: 3 }),
    }));
    const update = outbox.update(changes);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(requests.map(({ path }) => path)).toEqual(Array(4).fill('/transactions/bulk'));
    expect(requests.map(({ body }) => (body as Bulk).transactions.length)).toEqual([
      100, 100, 100, 50,
    ]);
    expect(requests[2]?.headers).toEqual(requests[1]?.headers);
    expect((await update).map(({ change }) => change.before?.id)).toEqual([6]);
    expect(refused).toHaveLength(1);
    const remaining = outbox.writes.value.flatMap((write) => write.changes);
    expect(remaining.map(({ after }) => after?.id)).not.toContain(6);
    expect(remaining).toHaveLength(249);
  });
});
