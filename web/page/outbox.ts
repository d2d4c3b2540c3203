// Writes on their way to the service. A write is shown at once, kept in the tab until it is answered, sent again after a lost
// answer, and taken back if it is refused. A reload in the middle resumes: creates and bulks carry an Idempotency-Key, updates
// and deletions the version that they expect.
import { computed, signal } from '@preact/signals';
import type { TransactionsDeleted, TransactionsUpdated } from '../../lib/ledger/http/api-types.ts';
import { ApiError, type Call, pauseAfter } from './api-error.ts';
import type { Change } from './figures.ts';
import { changedFields, type Row, readFields } from './rows.ts';

export interface Write {
  /** Its Idempotency-Key. */
  readonly key: string;
  /** A key of another ledger must not send it. */
  readonly ledger: string;
  readonly changes: readonly Change[];
  readonly queuedAt: number;
  /** Later than now: it can be undone until then. */
  readonly sendAt: number;
  readonly attempts: number;
  readonly confirmedAt?: number;
}

export interface Refusal {
  readonly change: Change;
  readonly error: ApiError;
}

export interface Conflict {
  readonly mine: Row;
  /** Undefined where it was deleted. */
  readonly theirs: Row | undefined;
}

interface Ports {
  readonly call: <Answer>(path: string, request?: Call) => Promise<Answer>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly onConfirmed: () => void;
  readonly onRefused: (refusals: readonly Refusal[], write: Write) => void;
  readonly onUnauthenticated: () => void;
  /** An error of the page itself: its write is taken back. */
  readonly onDefect: (error: unknown) => void;
}

interface Settled {
  readonly changes: readonly Change[];
  readonly refusals: readonly Refusal[];
}

const STORED = 'outbox';
const UNDO_MS = 10_000;
const MAX_BULK_ITEMS = 100;
/** The service remembers a key for a day: after that, a repetition could record twice. */
const KEY_LIFETIME_MS = 20 * 3_600_000;
const TOO_OLD = new ApiError(
  'It was not answered for a day. Look whether the ledger has it, and add it again if not.',
  { isRetryable: false },
);
/** Time for which a confirmed write is shown over lists that may lag behind it. */
const LAG_MS = 60_000;

class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly theirs: Row | undefined;
  constructor(theirs: Row | undefined) {
    super('The transaction was changed elsewhere.');
    this.theirs = theirs;
  }
}

export function createOutbox({ call, storage, ...on }: Ports) {
  const writes = signal<readonly Write[]>(readStored(storage));
  const conflicts = signal<ReadonlyMap<number, Conflict>>(new Map());
  const isInterrupted = signal(false);
  const waiting = computed(() => writes.value.filter(({ confirmedAt }) => !confirmedAt));
  const undoable = computed(() => waiting.value.filter(isUndoable));
  const waiters = new Map<string, (refusals: readonly Refusal[]) => void>();
  const underWay = new Set<string>();
  const versions = createVersions();
  let ledger: string | undefined;
  let pausedUntil = 0;
  let pumping = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let nextTemporaryId = Math.min(0, ...writes.value.flatMap(temporaryIds));

  function replace(next: readonly Write[]): void {
    writes.value = next;
    try {
      storage.setItem(STORED, JSON.stringify(next.filter(({ confirmedAt }) => !confirmedAt)));
    } catch {
      // Its space is used up. Writes are sent from memory, and a reload resumes what was stored last.
    }
  }

  function update(key: string, changes: Partial<Write>): void {
    replace(writes.value.map((each) => (each.key === key ? { ...each, ...changes } : each)));
  }

  function enqueue(given: readonly Change[], delay = 0): readonly string[] {
    const now = Date.now();
    const changes = given.map(versions.follow);
    const parts = Array.from({ length: Math.ceil(changes.length / MAX_BULK_ITEMS) }, (_, n) =>
      changes.slice(n * MAX_BULK_ITEMS, (n + 1) * MAX_BULK_ITEMS),
    );
    const added = parts.map((part) => ({
      key: crypto.randomUUID(),
      ledger: ledger ?? '',
      changes: part,
      queuedAt: now,
      sendAt: now + delay,
      attempts: 0,
    }));
    replace([...writes.value.filter(isFresh), ...added]);
    queueMicrotask(pump);
    return added.map(({ key }) => key);
  }

  /** @returns once nothing is due: every write was answered, or one was not and all wait */
  function pump(): Promise<void> {
    pumping = pumping.then(sendDue, sendDue);
    return pumping;
  }

  async function sendDue(): Promise<void> {
    clearTimeout(timer);
    for (let next = findDue(); next; next = findDue()) await attempt(next);
    const moments = open().map(({ sendAt }) => Math.max(sendAt, pausedUntil));
    if (moments.length > 0)
      timer = setTimeout(pump, Math.max(0, Math.min(...moments) - Date.now()));
  }

  function open(): readonly Write[] {
    return waiting.value.filter((each) => each.ledger === ledger && !underWay.has(each.key));
  }

  function findDue(): Write | undefined {
    const now = Date.now();
    return pausedUntil > now ? undefined : open().find(({ sendAt }) => sendAt <= now);
  }

  async function attempt(write: Write): Promise<void> {
    underWay.add(write.key);
    if (isUndoable(write)) update(write.key, { sendAt: write.queuedAt });
    let settled: Settled;
    try {
      if (write.attempts > 0 && Date.now() - write.queuedAt > KEY_LIFETIME_MS) throw TOO_OLD;
      settled = await transmit(write, call);
    } catch (error) {
      return fail(write, error);
    } finally {
      underWay.delete(write.key);
    }
    isInterrupted.value = false;
    confirm(write, settled);
  }

  function confirm(write: Write, { changes, refusals }: Settled): void {
    // Before the rows change: their keys and the row that is edited go by it.
    for (const { before, after } of changes) {
      const written = before ?? write.changes[0]?.after;
      if (after && written) versions.add(written, after);
    }
    update(write.key, { changes, confirmedAt: Date.now() });
    rebase();
    if (refusals.length > 0) on.onRefused(refusals, write);
    settle(write, refusals);
    on.onConfirmed();
  }

  function settle({ key }: Write, refusals: readonly Refusal[]): void {
    waiters.get(key)?.(refusals);
    waiters.delete(key);
  }

  /** Later writes to the same row go to the id and the version that it has now. */
  function rebase(): void {
    replace(
      writes.value.map((each) =>
        each.confirmedAt ? each : { ...each, changes: each.changes.map(versions.follow) },
      ),
    );
  }

  function fail(write: Write, error: unknown): void {
    if (error instanceof ConflictError) {
      const [change] = write.changes;
      drop(write.key);
      if (!change?.after) return;
      const { after: mine } = change;
      conflicts.value = new Map([...conflicts.value, [mine.id, { mine, theirs: error.theirs }]]);
      settle(write, [{ change, error: new ApiError(error.message, { isRetryable: false }) }]);
      return;
    }
    const failure = error instanceof ApiError ? error : explainDefect(error);
    if (failure.status === 401) {
      ledger = undefined;
      on.onUnauthenticated();
      return;
    }
    if (!failure.isRetryable) {
      if (failure !== error) on.onDefect(error);
      const refusals = write.changes.map((change) => ({ change, error: failure }));
      drop(write.key);
      on.onRefused(refusals, write);
      settle(write, refusals);
      return;
    }
    update(write.key, { attempts: write.attempts + 1 });
    isInterrupted.value = true;
    pausedUntil = Date.now() + pauseAfter(write.attempts);
  }

  function drop(key: string): void {
    replace(writes.value.filter((each) => each.key !== key));
  }

  return {
    writes,
    waiting,
    conflicts,
    /** The last attempt was not answered. */
    isInterrupted,
    /** Deletions that can still be undone. */
    undoable,
    latestOf: versions.latestOf,
    keyOf: versions.keyOf,
    /** A list may have a row that is created and not answered yet, under an id that this page does not know. */
    isCreating: () =>
      waiting.value.some(({ changes }) => changes.some(({ before, after }) => !before && after)),

    /** Sends what belongs to this ledger, from now on. */
    open(name: string): void {
      ledger = name;
      void pump();
    },
    /** Nothing is sent until a ledger is opened again. */
    close(): void {
      ledger = undefined;
    },
    create(fields: Fields): void {
      nextTemporaryId -= 1;
      const now = new Date().toISOString();
      const after = { ...fields, id: nextTemporaryId, created_at: now, updated_at: now, etag: '' };
      enqueue([{ after }]);
    },
    /** @returns what was refused, once all is answered */
    async update(changes: readonly Change[]): Promise<readonly Refusal[]> {
      const answered = enqueue(changes).map(
        (key) =>
          new Promise<readonly Refusal[]>((resolve) => {
            waiters.set(key, resolve);
          }),
      );
      return (await Promise.all(answered)).flat();
    },
    remove: (rows: readonly Row[]) =>
      enqueue(
        rows.map((before) => ({ before })),
        UNDO_MS,
      ),
    undoRemovals(): void {
      const undone = new Set(undoable.value);
      replace(writes.value.filter((each) => !undone.has(each)));
    },
    /** Before the page is hidden or left: deletions do not wait any longer. */
    flush(): void {
      if (ledger === undefined) return;
      for (const each of undoable.value) if (each.ledger === ledger) void attempt(each);
    },
    resolveConflict(id: number): void {
      const rest = new Map(conflicts.value);
      rest.delete(id);
      conflicts.value = rest;
    },
    /** @returns once nothing is due any more */
    retryNow(): Promise<void> {
      pausedUntil = 0;
      return pump();
    },
  };
}

/** Rows as the writes of this page have left them: a row that was taken from a list before is written as it is now. */
function createVersions() {
  const next = new Map<string, Pick<Row, 'id' | 'etag'>>();
  const keys = new Map<number, number>();
  const nameOf = ({ id, etag }: Pick<Row, 'id' | 'etag'>) => `${id} ${etag}`;
  /** Its id and version after the writes of this page; a version that another has written is not among them. */
  function latestOf(row: Row): Row {
    let latest: Pick<Row, 'id' | 'etag'> = row;
    for (let each = next.get(nameOf(row)); each; each = next.get(nameOf(each))) latest = each;
    return latest === row ? row : { ...row, id: latest.id, etag: latest.etag };
  }
  return {
    latestOf,
    follow: ({ before, after }: Change): Change => ({
      before: before && latestOf(before),
      after: after && latestOf(after),
    }),
    add(before: Row, after: Row): void {
      if (before.id !== after.id) keys.set(after.id, before.id);
      if (nameOf(before) !== nameOf(after))
        next.set(nameOf(before), { id: after.id, etag: after.etag });
    },
    /** The same before and after a row that is created gets its id. */
    keyOf: (id: number) => keys.get(id) ?? id,
  };
}

type Fields = ReturnType<typeof readFields> & { readonly category_name?: string };

async function transmit(write: Write, call: Ports['call']): Promise<Settled> {
  const [change] = write.changes;
  if (write.changes.length !== 1 || !change) return await transmitBulk(write, call);
  const { before, after } = change;
  const settle = (row?: Row): Settled => ({ changes: [{ before, after: row }], refusals: [] });
  if (!before && after) {
    const request = {
      method: 'POST',
      body: readFields(after),
      headers: { 'idempotency-key': write.key },
    } as const;
    return settle((await call<{ data: Row }>('/transactions', request)).data);
  }
  if (!before) return settle();
  const path = `/transactions/${before.id}`;
  const headers = { 'if-match': before.etag };
  if (after) {
    const request = { method: 'PUT', body: changedFields(before, after), headers } as const;
    try {
      return settle((await call<{ data: Row }>(path, request)).data);
    } catch (error) {
      return settle(await readMine(error, after, path, call));
    }
  }
  try {
    await call(path, { method: 'DELETE', headers });
  } catch (error) {
    // It was deleted elsewhere, or by an attempt whose answer was lost.
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  return settle();
}

/**
 * After a refusal because of the row: its present version, if an attempt whose answer was lost has written it.
 * @throws ConflictError if it has changed or was deleted
 */
async function readMine(
  error: unknown,
  mine: Row,
  path: string,
  call: Ports['call'],
): Promise<Row> {
  const status = error instanceof ApiError ? error.status : 0;
  if (status !== 412 && status !== 404) throw error;
  const { data: theirs } = await call<{ data: Row }>(path).catch((cause) => {
    throw cause instanceof ApiError && cause.status === 404 ? new ConflictError(undefined) : cause;
  });
  // The row exists: its category does not.
  if (status === 404) throw error;
  if (Object.keys(changedFields(theirs, mine)).length === 0) return theirs;
  throw new ConflictError(theirs);
}

async function transmitBulk(write: Write, call: Ports['call']): Promise<Settled> {
  const { changes, key } = write;
  const isRemoval = changes.every(({ after }) => !after);
  const transactions = changes.map(({ before, after }) => ({
    id: before?.id,
    if_match: before?.etag,
    ...(before && after && changedFields(before, after)),
  }));
  const { data } = await call<TransactionsUpdated | TransactionsDeleted>(
    isRemoval ? '/transactions/bulk/delete' : '/transactions/bulk',
    {
      method: isRemoval ? 'POST' : 'PUT',
      body: { transactions },
      headers: { 'idempotency-key': key },
    },
  );
  if (data.results.some(({ status }) => status >= 500))
    throw new ApiError('The service did not finish.');
  const settled: Change[] = [];
  const refusals: Refusal[] = [];
  for (const { index, status, etag, message = '', details = {} } of data.results) {
    const change = changes[index];
    if (!change) continue;
    const { before, after } = change;
    if (status < 300 || (isRemoval && status === 404))
      settled.push({ before, after: after && { ...after, etag: etag ?? after.etag } });
    else
      refusals.push({
        change,
        error: new ApiError(message, { status, details, isRetryable: false }),
      });
  }
  return { changes: settled, refusals };
}

/** An error of this page is the same at each attempt. */
function explainDefect(error: unknown): ApiError {
  const message = `The page failed: ${error}. Reload it, and try again.`;
  return new ApiError(message, { isRetryable: false });
}

function readStored(storage: Ports['storage']): readonly Write[] {
  try {
    return JSON.parse(storage.getItem(STORED) ?? '[]');
  } catch {
    return [];
  }
}

function isUndoable({ sendAt, queuedAt }: Write): boolean {
  return sendAt > queuedAt;
}

function isFresh({ confirmedAt = Number.POSITIVE_INFINITY }: Write): boolean {
  return confirmedAt > Date.now() - LAG_MS;
}

function temporaryIds({ changes }: Write): number[] {
  return changes.map(({ after }) => after?.id ?? 0);
}
