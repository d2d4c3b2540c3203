// The queue of writes to the service. A write is shown at once, stored in the tab until the service answers, sent again after a
// lost answer, and taken back if it is refused. A reload resumes the queue: sending a write twice is safe, because creates and
// bulk writes carry an Idempotency-Key, and updates and deletions the version that they expect.
import { computed, signal } from '@preact/signals';
import { ApiError, type Call, pauseAfter } from './api-error.ts';
import type { Change } from './figures.ts';
import { createRowVersions } from './row-versions.ts';
import { type Fields, isTemporary, type Row } from './rows.ts';
import { ConflictError, type Refusal, type Settled, sendWrite } from './send-write.ts';

export interface Write {
  /** The write's Idempotency-Key. */
  readonly key: string;
  /** Name of the ledger: if the page is opened with the key of another ledger, the write must not be sent. */
  readonly ledger: string;
  readonly changes: readonly Change[];
  readonly queuedAt: number;
  /** Later than `queuedAt` for a deletion, which can be undone until then. */
  readonly sendAt: number;
  readonly attempts: number;
  readonly confirmedAt?: number;
}

export interface Conflict {
  readonly mine: Row;
  /** Undefined if the row was deleted elsewhere. */
  readonly theirs: Row | undefined;
}

interface Ports {
  readonly call: <Answer>(path: string, request?: Call) => Promise<Answer>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly onConfirmed: () => void;
  readonly onRefused: (refusals: readonly Refusal[], write: Write) => void;
  readonly onUnauthenticated: () => void;
  /** Called with an error of the page itself; the write that caused it is taken back. */
  readonly onDefect: (error: unknown) => void;
}

const STORED = 'outbox';
const UNDO_MS = 10_000;
const MAX_BULK_ITEMS = 100;
/** The service remembers an Idempotency-Key for a day: a later repetition could apply the write twice. */
const KEY_LIFETIME_MS = 20 * 3_600_000;
const TOO_OLD = new ApiError(
  'It was not answered for a day. Look whether the ledger has it, and add it again if not.',
  { isRetryable: false },
);
/** Time for which a confirmed write is shown over lists that may lag behind it. */
export const LAG_MS = 60_000;

export function createOutbox({ call, storage, ...on }: Ports) {
  const writes = signal<readonly Write[]>(readStored(storage));
  const conflicts = signal<ReadonlyMap<number, Conflict>>(new Map());
  const isInterrupted = signal(false);
  const waiting = computed(() => writes.value.filter(({ confirmedAt }) => !confirmedAt));
  const undoable = computed(() => waiting.value.filter(isUndoable));
  const waiters = new Map<string, (refusals: readonly Refusal[]) => void>();
  const underWay = new Set<string>();
  const versions = createRowVersions();
  let ledger: string | undefined;
  let pausedUntil = 0;
  let pumping = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A temporary id is never used twice, even across reloads: the draft of an earlier row may still have it.
  let nextTemporaryId = Math.min(-Date.now(), ...writes.value.flatMap(temporaryIds));

  function replace(next: readonly Write[]): void {
    writes.value = next;
    try {
      storage.setItem(STORED, JSON.stringify(next.filter(({ confirmedAt }) => !confirmedAt)));
    } catch {
      // The browser's storage is full. Writes are sent from memory, and a reload resumes the queue that was stored last.
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

  /** Resolves when no write is due: all were answered, or one was not and the queue pauses. */
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
    // Counts the attempt before sending: if the page is closed meanwhile, the next page must know that the write may have been
    // applied.
    update(write.key, { attempts: write.attempts + 1, sendAt: write.queuedAt });
    let settled: Settled;
    try {
      if (write.attempts > 0 && Date.now() - write.queuedAt > KEY_LIFETIME_MS) throw TOO_OLD;
      settled = await sendWrite(write, call);
    } catch (error) {
      return fail(write, error);
    } finally {
      underWay.delete(write.key);
    }
    isInterrupted.value = false;
    confirm(write, settled);
  }

  function confirm(write: Write, { changes, refusals }: Settled): void {
    // Records the new ids and versions before the rows change: row keys and an open edit depend on them.
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

  function settle({ key }: Pick<Write, 'key'>, refusals: readonly Refusal[]): void {
    waiters.get(key)?.(refusals);
    waiters.delete(key);
  }

  /** Gives the waiting writes of a row the id and the version that the row has now. */
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
      update(write.key, { attempts: write.attempts });
      ledger = undefined;
      on.onUnauthenticated();
      return;
    }
    if (!failure.isRetryable) {
      if (failure !== error) on.onDefect(error);
      refuse(write, failure);
      return;
    }
    isInterrupted.value = true;
    pausedUntil = Date.now() + pauseAfter(write.attempts);
  }

  /**
   * If the creation of a row is refused, its later changes are dropped as well, and the refusal reports the row as they would
   * have left it.
   */
  function refuse(write: Write, error: ApiError): void {
    const [first] = write.changes;
    const created = first?.before ? undefined : first?.after?.id;
    const isLater = ({ before }: Change) => before !== undefined && before.id === created;
    const last = writes.value.flatMap(({ changes }) => changes.filter(isLater)).at(-1);
    const refused = !last ? write.changes : last.after ? [{ after: last.after }] : [];
    const refusals = refused.map((change) => ({ change, error }));
    const rest = writes.value.flatMap((each) => {
      const changes = each.changes.filter((change) => !isLater(change));
      return each.key !== write.key && changes.length > 0 ? { ...each, changes } : [];
    });
    replace(rest);
    on.onRefused(refusals, write);
    const left = new Set(rest.map(({ key }) => key));
    for (const key of waiters.keys()) if (!left.has(key)) settle({ key }, refusals);
  }

  function drop(key: string): void {
    replace(writes.value.filter((each) => each.key !== key));
  }

  return {
    writes,
    waiting,
    conflicts,
    /** True if the last attempt was not answered. */
    isInterrupted,
    /** Deletions that can still be undone. */
    undoable,
    latestOf: versions.latestOf,
    keyOf: versions.keyOf,
    /** True while a create is unanswered: a list may already have the row, under an id that this page does not know. */
    isCreating: () =>
      waiting.value.some(({ changes }) => changes.some(({ before, after }) => !before && after)),

    /** Starts to send the writes of this ledger. */
    open(name: string): void {
      ledger = name;
      void pump();
    },
    /** Stops sending until a ledger is opened again. */
    close(): void {
      ledger = undefined;
    },
    create(fields: Fields & { readonly category_name?: string }): void {
      nextTemporaryId -= 1;
      const now = new Date().toISOString();
      const after = { ...fields, id: nextTemporaryId, created_at: now, updated_at: now, etag: '' };
      enqueue([{ after }]);
    },
    /** @returns the refusals, once every change is answered */
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
    /** Sends deletions that can still be undone, because the page is being hidden or left. */
    flush(): void {
      for (const each of undoable.value) {
        if (each.ledger !== ledger) continue;
        // A row that is being created has no id yet: its deletion must wait in the queue behind the create.
        if (each.changes.some(({ before }) => before && isTemporary(before)))
          update(each.key, { sendAt: each.queuedAt });
        else void attempt(each);
      }
    },
    resolveConflict(id: number): void {
      const rest = new Map(conflicts.value);
      rest.delete(id);
      conflicts.value = rest;
    },
    /** Ends the pause after an unanswered attempt. Resolves when no write is due. */
    retryNow(): Promise<void> {
      pausedUntil = 0;
      return pump();
    },
  };
}

/** A defect of the page would fail again at each attempt, so it is not retried. */
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
