// The writes of the page to the service. A write is shown at once, stored on the device until the service responds, sent again
// after a lost response, and undone if it is refused. The next page resumes the queue.
import { computed, type ReadonlySignal } from '@preact/signals';
import type { Change } from './figures.ts';
import type { Journal } from './journal.ts';
import type { Fields, Row } from './rows.ts';
import { attempt, createSender, pump, type Sender, type SenderPorts } from './send-queue.ts';
import type { Refusal } from './send-write.ts';
import { untilTrue } from './until-true.ts';
import { createWriteQueue, type Write, type WriteQueue } from './write-queue.ts';

interface Ports extends SenderPorts {
  readonly journal: Journal;
  /** Called as soon as a created row is queued. */
  readonly onCreated: (row: Row) => void;
}

const UNDO_MS = 10_000;

export function createOutbox({ journal, ...ports }: Ports) {
  const queue = createWriteQueue(journal);
  const sender = createSender(queue, ports);
  const state = deriveState(queue, sender);
  return {
    ...state,
    /** True while a create has no response: a list may already have the row, under an id that this page does not know. */
    isCreating: () =>
      (sender.ledger.value === undefined && journal.hasOthers()) ||
      queue.waiting.value.some(({ changes }) =>
        changes.some(({ before, after }) => !before && after),
      ),
    /**
     * Shows the writes of this ledger, including those of closed pages, and starts to send them. If the key only reads, they wait for
     * another key.
     */
    async open(name: string, { canWrite = true } = {}): Promise<void> {
      sender.ledger.value = name;
      sender.isOpen = canWrite;
      void pump(sender);
      await takeOver(sender, journal);
    },
    /** Sends the writes of pages that have been closed since. */
    takeOver: () => takeOver(sender, journal),
    /** True if waiting writes would be lost with this page. */
    isAtRisk: () => queue.waiting.value.length > 0 && !queue.isStored(),
    /** Stops sending until the ledger is opened again. New writes wait until then. */
    close(): void {
      sender.isOpen = false;
    },
    create(fields: Fields & { readonly category_name?: string }): void {
      const now = new Date().toISOString();
      const id = queue.takeTemporaryId();
      const row = { ...fields, id, created_at: now, updated_at: now, etag: '' };
      enqueue(sender, [{ after: row }]);
      ports.onCreated(row);
    },
    update: (changes: readonly Change[]) => updateRows(sender, changes),
    remove: (rows: readonly Row[]) => {
      enqueue(
        sender,
        rows.map((before) => ({ before })),
        UNDO_MS,
      );
    },
    undoRemovals: () => undoRemovals(queue, state.undoable.peek()),
    flush: () => flush(sender),
    /** Resolves once every write has a response, except deletions that can still be undone. */
    settle: () => untilTrue(() => state.waiting.value.length === state.undoable.value.length),
    resolveConflict: (id: number) => resolveConflict(sender, id),
    /** Ends the pause after a failed attempt, and sends. Resolves when no write is due. */
    retryNow(): Promise<void> {
      sender.pausedUntil = 0;
      return pump(sender);
    },
  };
}

/** The part of the outbox that the page only reads: the writes of the opened ledger. */
function deriveState(queue: WriteQueue, { ledger, conflicts, isInterrupted, versions }: Sender) {
  const filterByLedger = (all: ReadonlySignal<readonly Write[]>) =>
    computed(() => all.value.filter((each) => each.ledger === ledger.value && !each.isConflicting));
  return {
    writes: filterByLedger(queue.writes),
    waiting: filterByLedger(queue.waiting),
    undoable: filterByLedger(queue.undoable),
    /** The opened ledger: known before its first write is sent */
    ledger: ledger as ReadonlySignal<string | undefined>,
    conflicts,
    isInterrupted,
    latestOf: versions.latestOf,
    keyOf: versions.keyOf,
  };
}

async function takeOver(sender: Sender, journal: Journal): Promise<void> {
  const { ledger, isOpen, queue } = sender;
  if (!isOpen || ledger.value === undefined) return;
  await journal.takeOver(ledger.value, queue.resume);
  await pump(sender);
}

/** @returns the keys of the queued writes */
function enqueue(sender: Sender, changes: readonly Change[], delay = 0): readonly string[] {
  const { queue, versions, ledger } = sender;
  const addedWrites = queue.add(
    changes.map(versions.withLatestVersions),
    ledger.value ?? '',
    delay,
  );
  queueMicrotask(() => pump(sender));
  return addedWrites.map(({ key }) => key);
}

/** @returns the refusals, once every change has a response */
async function updateRows(sender: Sender, changes: readonly Change[]): Promise<readonly Refusal[]> {
  const results = enqueue(sender, changes).map(
    (key) =>
      new Promise<readonly Refusal[]>((resolve) => {
        sender.waiters.set(key, resolve);
      }),
  );
  return (await Promise.all(results)).flat();
}

function undoRemovals({ writes, replace }: WriteQueue, undoable: readonly Write[]): void {
  const removals = new Set(undoable);
  replace(writes.value.filter((each) => !removals.has(each)));
}

/**
 * Stops asking which version to keep. If the row was deleted elsewhere, forgets its confirmed writes as well: otherwise they would
 * still show the row for as long as a list may lag behind them.
 */
function resolveConflict({ conflicts, queue }: Sender, id: number): void {
  const remainingConflicts = new Map(conflicts.value);
  const isRowDeleted = remainingConflicts.get(id)?.theirs === undefined;
  remainingConflicts.delete(id);
  conflicts.value = remainingConflicts;
  const changesRow = ({ after }: Change) => after?.id === id;
  queue.replace(
    queue.writes.value.filter((each) => !(each.isConflicting && each.changes.some(changesRow))),
  );
  if (isRowDeleted)
    queue.replace(
      queue.writes.value.map((each) =>
        each.confirmedAt
          ? { ...each, changes: each.changes.filter((change) => !changesRow(change)) }
          : each,
      ),
    );
}

/** Sends deletions that can still be undone, because the page is being hidden or left. */
function flush(sender: Sender): void {
  const { queue, ledger, isOpen } = sender;
  for (const each of queue.undoable.value) {
    if (!isOpen || each.ledger !== ledger.value) continue;
    // An earlier create or change gives the row the id and the version that its deletion needs.
    if (hasEarlierWrite(each, queue.waiting.value)) {
      queue.update(each.key, { sendAt: each.queuedAt });
      void pump(sender);
    } else void attempt(sender, each);
  }
}

/** True if an earlier write of one of its rows has no response yet. */
function hasEarlierWrite(write: Write, waiting: readonly Write[]): boolean {
  const earlierChanges = waiting.slice(0, waiting.indexOf(write)).flatMap(({ changes }) => changes);
  const ids = new Set(earlierChanges.map(({ before, after }) => (after ?? before)?.id));
  return write.changes.some(({ before }) => ids.has(before?.id));
}
