// The writes of the page, in the order in which they were made. Unanswered writes are stored in the tab, so that a reload
// resumes them.
import { computed, signal } from '@preact/signals';
import { MAX_BULK_ITEMS } from '../../lib/ledger/domain/transaction.ts';
import type { Change } from './figures.ts';

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
  /** True while a person is asked which version to keep. After a reload the write is sent again, and the person asked again. */
  readonly isConflicting?: boolean;
}

/** Keeps writes over a reload. */
export interface WriteStorage {
  readonly getItem: (name: string) => string | null;
  readonly setItem: (name: string, text: string) => unknown;
}

const STORAGE_NAME = 'outbox';
/** Time for which a confirmed write is shown over lists that may lag behind it. */
export const LAG_MS = 60_000;

export type WriteQueue = ReturnType<typeof createWriteQueue>;

export function createWriteQueue(storage: WriteStorage) {
  const writes = signal<readonly Write[]>(readStored(storage));
  const waiting = computed(() =>
    writes.value.filter(({ confirmedAt, isConflicting }) => !confirmedAt && !isConflicting),
  );
  // A temporary id is never used twice, even across reloads: the draft of an earlier row may still have it.
  let nextTemporaryId = Math.min(-Date.now(), ...writes.value.flatMap(temporaryIds));

  function replace(next: readonly Write[]): void {
    writes.value = next;
    try {
      storage.setItem(STORAGE_NAME, JSON.stringify(next.filter(({ confirmedAt }) => !confirmedAt)));
    } catch {
      // The browser's storage is full. Writes are sent from memory, and a reload resumes the queue that was stored last.
    }
  }

  return {
    writes,
    waiting,
    /** Deletions that can still be undone. */
    undoable: computed(() => waiting.value.filter(({ sendAt, queuedAt }) => sendAt > queuedAt)),
    replace,
    update(key: string, changes: Partial<Write>): void {
      replace(writes.value.map((each) => (each.key === key ? { ...each, ...changes } : each)));
    },
    /** Adds the changes as writes of at most one bulk request each. */
    add(changes: readonly Change[], ledger: string, delay: number): readonly Write[] {
      const added = splitWrites(changes, ledger, delay);
      replace([...writes.value.filter(isFresh), ...added]);
      return added;
    },
    takeTemporaryId(): number {
      nextTemporaryId -= 1;
      return nextTemporaryId;
    },
  };
}

function splitWrites(changes: readonly Change[], ledger: string, delay: number): Write[] {
  const queuedAt = Date.now();
  return Array.from({ length: Math.ceil(changes.length / MAX_BULK_ITEMS) }, (_, n) => ({
    key: crypto.randomUUID(),
    ledger,
    changes: changes.slice(n * MAX_BULK_ITEMS, (n + 1) * MAX_BULK_ITEMS),
    queuedAt,
    sendAt: queuedAt + delay,
    attempts: 0,
  }));
}

function readStored(storage: WriteStorage): readonly Write[] {
  try {
    const stored: readonly Write[] = JSON.parse(storage.getItem(STORAGE_NAME) ?? '[]');
    return stored.map(({ isConflicting: _, ...each }) => each);
  } catch {
    return [];
  }
}

function isFresh({ confirmedAt = Number.POSITIVE_INFINITY }: Write): boolean {
  return confirmedAt > Date.now() - LAG_MS;
}

function temporaryIds({ changes }: Write): number[] {
  return changes.map(({ after }) => after?.id ?? 0);
}
