// The writes of the page, in the order in which they were made. Writes without a response are stored, so that the next page
// resumes them.
import { computed, signal } from '@preact/signals';
import { MAX_BULK_ITEMS } from '../../lib/ledger/domain/transaction.ts';
import type { Change } from './figures.ts';
import type { Journal } from './journal.ts';

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

/** Time for which a confirmed write is shown over lists that may lag behind it. */
export const LAG_MS = 60_000;

export type WriteQueue = ReturnType<typeof createWriteQueue>;

export function createWriteQueue({ save }: Pick<Journal, 'save'>) {
  const writes = signal<readonly Write[]>([]);
  const waiting = computed(() =>
    writes.value.filter(({ confirmedAt, isConflicting }) => !confirmedAt && !isConflicting),
  );
  // A temporary id is never used twice, even by pages that start at once: the draft of an earlier row may still have it.
  let nextTemporaryId = -Math.floor((Date.now() + Math.random()) * 1000);
  let isStored = true;

  function replace(newWrites: readonly Write[]): void {
    writes.value = newWrites;
    isStored = save(newWrites.filter(({ confirmedAt }) => !confirmedAt));
  }

  return {
    writes,
    waiting,
    /** Deletions that can still be undone. */
    undoable: computed(() => waiting.value.filter(({ sendAt, queuedAt }) => sendAt > queuedAt)),
    /** False if the writes without a response could not be stored. */
    isStored: () => isStored,
    replace,
    /** Adds the writes that another page has stored. */
    resume(text: string): void {
      const knownKeys = new Set(writes.value.map(({ key }) => key));
      const addedWrites = readStored(text).filter(({ key }) => !knownKeys.has(key));
      nextTemporaryId = Math.min(nextTemporaryId, ...addedWrites.flatMap(listTemporaryIds));
      replace([...addedWrites, ...writes.value]);
    },
    update(key: string, changes: Partial<Write>): void {
      replace(writes.value.map((each) => (each.key === key ? { ...each, ...changes } : each)));
    },
    /** Adds the changes as writes of at most one bulk request each. */
    add(changes: readonly Change[], ledger: string, delay: number): readonly Write[] {
      const addedWrites = splitWrites(changes, ledger, delay);
      replace([...writes.value.filter(isFresh), ...addedWrites]);
      return addedWrites;
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

function readStored(text: string): readonly Write[] {
  try {
    const storedWrites: readonly Write[] = JSON.parse(text);
    return storedWrites.map(({ isConflicting: _, ...each }) => each);
  } catch {
    return [];
  }
}

function isFresh({ confirmedAt = Number.POSITIVE_INFINITY }: Write): boolean {
  return confirmedAt > Date.now() - LAG_MS;
}

function listTemporaryIds({ changes }: Write): number[] {
  return changes.map(({ after }) => after?.id ?? 0);
}
