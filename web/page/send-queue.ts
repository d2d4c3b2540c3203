// Sends the queued writes of the page one after another. A write is sent again after a lost response, but not after a refusal.
// Sending it twice is safe, because creates and bulk writes carry an Idempotency-Key, and updates and deletions the version that
// they expect.
import { type Signal, signal } from '@preact/signals';
import { ApiError, type Call, MAX_PAUSE_MS, pauseAfter } from './api-error.ts';
import type { Change } from './figures.ts';
import { createRowVersions } from './row-versions.ts';
import type { Row } from './rows.ts';
import { ConflictError, type Outcome, type Refusal, sendWrite } from './send-write.ts';
import type { Write, WriteQueue } from './write-queue.ts';

export interface Conflict {
  readonly mine: Row;
  /** Undefined if the row was deleted elsewhere. */
  readonly theirs: Row | undefined;
}

export interface SenderPorts {
  readonly call: <Body>(path: string, request?: Call) => Promise<Body>;
  readonly onConfirmed: () => void;
  readonly onRefused: (refusals: readonly Refusal[], write: Write) => void;
  readonly onUnauthenticated: () => void;
  /** Called with an error of the page itself; the write that caused it is reverted. */
  readonly onDefect: (error: unknown) => void;
}

/** The state that the functions of this file share. */
export interface Sender {
  readonly queue: WriteQueue;
  readonly ports: SenderPorts;
  readonly versions: ReturnType<typeof createRowVersions>;
  readonly conflicts: Signal<ReadonlyMap<number, Conflict>>;
  /** True if the last attempt got no response. */
  readonly isInterrupted: Signal<boolean>;
  /** Callbacks by the key of a write: each is called once its write has a response. */
  readonly waiters: Map<string, (refusals: readonly Refusal[]) => void>;
  /** Keys of the writes whose request is under way. */
  readonly underWay: Set<string>;
  /** Only writes of this ledger are shown and sent; undefined before a ledger is opened. */
  readonly ledger: Signal<string | undefined>;
  /** False while nothing is sent: no key is known, or the key only reads. */
  isOpen: boolean;
  pausedUntil: number;
  pumping: Promise<void>;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** The service remembers an Idempotency-Key for a day: a later retry could apply the write twice. */
const KEY_LIFETIME_MS = 20 * 3_600_000;
const TOO_OLD_ERROR = new ApiError(
  'The service did not answer for a day. Check whether the ledger has this change, and repeat it if not.',
  { isRetryable: false },
);

export function createSender(queue: WriteQueue, ports: SenderPorts): Sender {
  return {
    queue,
    ports,
    versions: createRowVersions(),
    conflicts: signal<ReadonlyMap<number, Conflict>>(new Map()),
    isInterrupted: signal(false),
    waiters: new Map(),
    underWay: new Set(),
    ledger: signal<string | undefined>(undefined),
    isOpen: false,
    pausedUntil: 0,
    pumping: Promise.resolve(),
    timer: undefined,
  };
}

/** Sends every due write. Resolves when all have a response, or when one has none and the queue pauses. */
export function pump(sender: Sender): Promise<void> {
  const send = () => sendDue(sender);
  sender.pumping = sender.pumping.then(send, send);
  return sender.pumping;
}

async function sendDue(sender: Sender): Promise<void> {
  clearTimeout(sender.timer);
  for (let write = findDue(sender); write; write = findDue(sender)) await attempt(sender, write);
  const dueTimes = listSendable(sender).map(({ sendAt, queuedAt }) =>
    Math.max(sendAt === queuedAt ? 0 : sendAt, sender.pausedUntil),
  );
  if (dueTimes.length > 0)
    sender.timer = setTimeout(() => pump(sender), Math.max(0, Math.min(...dueTimes) - Date.now()));
}

function listSendable({ queue, ledger, isOpen, underWay }: Sender): readonly Write[] {
  if (!isOpen) return [];
  return queue.waiting.value.filter(
    (each) => each.ledger === ledger.value && !underWay.has(each.key),
  );
}

function findDue(sender: Sender): Write | undefined {
  const now = Date.now();
  // A pause that would end later was set before the clock was turned back: it is ignored.
  return sender.pausedUntil > now && sender.pausedUntil <= now + MAX_PAUSE_MS
    ? undefined
    : listSendable(sender).find(({ sendAt, queuedAt }) => sendAt <= now || sendAt === queuedAt);
}

export async function attempt(sender: Sender, write: Write): Promise<void> {
  const { queue, ports, underWay, isInterrupted } = sender;
  underWay.add(write.key);
  // Counts the attempt before sending: if the page is closed meanwhile, the next page must know that the write may have been
  // applied.
  queue.update(write.key, { attempts: write.attempts + 1, sendAt: write.queuedAt });
  let outcome: Outcome;
  try {
    if (write.attempts > 0 && Date.now() - write.queuedAt > KEY_LIFETIME_MS) throw TOO_OLD_ERROR;
    outcome = await sendWrite(write, ports.call);
  } catch (error) {
    return handleFailure(sender, write, error);
  } finally {
    underWay.delete(write.key);
  }
  isInterrupted.value = false;
  confirm(sender, write, outcome);
}

function confirm(sender: Sender, write: Write, { changes, refusals }: Outcome): void {
  const { queue, ports, versions } = sender;
  // Records the new ids and versions before the rows change: row keys and an open edit depend on them.
  const confirmedVersions = createRowVersions();
  for (const { before, after } of changes) {
    const writtenRow = before ?? write.changes[0]?.after;
    if (!after || !writtenRow) continue;
    versions.add(writtenRow, after);
    confirmedVersions.add(writtenRow, after);
  }
  queue.update(write.key, { changes, confirmedAt: Date.now() });
  // The waiting writes of a row get the id and the version that this write gave it, but not those of earlier writes: a write that
  // was taken over from another page would then overwrite them without asking.
  queue.replace(
    queue.writes.value.map((each) =>
      each.confirmedAt
        ? each
        : { ...each, changes: each.changes.map(confirmedVersions.withLatestVersions) },
    ),
  );
  if (refusals.length > 0) ports.onRefused(refusals, write);
  notifyWaiter(sender, write.key, refusals);
  ports.onConfirmed();
}

function notifyWaiter({ waiters }: Sender, key: string, refusals: readonly Refusal[]): void {
  waiters.get(key)?.(refusals);
  waiters.delete(key);
}

function handleFailure(sender: Sender, write: Write, error: unknown): void {
  if (error instanceof ConflictError) {
    askWhichToKeep(sender, write, error);
    return;
  }
  const failure = error instanceof ApiError ? error : explainDefect(error);
  if (failure.status === 401) {
    sender.queue.update(write.key, { attempts: write.attempts });
    sender.isOpen = false;
    sender.ports.onUnauthenticated();
    return;
  }
  if (!failure.isRetryable) {
    if (failure !== error) sender.ports.onDefect(error);
    refuse(sender, write, failure);
    return;
  }
  sender.isInterrupted.value = true;
  sender.pausedUntil = Date.now() + pauseAfter(write.attempts);
}

function askWhichToKeep(sender: Sender, { key, changes }: Write, error: ConflictError): void {
  const { queue, conflicts } = sender;
  const [change] = changes;
  if (!change?.after) return;
  queue.update(key, { isConflicting: true });
  const { after: mine } = change;
  conflicts.value = new Map([...conflicts.value, [mine.id, { mine, theirs: error.theirs }]]);
  notifyWaiter(sender, key, [
    { change, error: new ApiError(error.message, { isRetryable: false }) },
  ]);
}

/** A defect of the page would fail again at each attempt, so the write is not retried. */
function explainDefect(error: unknown): ApiError {
  const message = `The page failed: ${error}. Reload it, and try again.`;
  return new ApiError(message, { isRetryable: false });
}

/**
 * If the creation of a row is refused, its later changes are dropped as well, and the refusal reports the row with these changes.
 */
function refuse(sender: Sender, write: Write, error: ApiError): void {
  const { queue, ports, waiters } = sender;
  const [first] = write.changes;
  const createdId = first?.before ? undefined : first?.after?.id;
  const changesCreatedRow = ({ before }: Change) => before !== undefined && before.id === createdId;
  const lastChange = queue.writes.value
    .flatMap(({ changes }) => changes.filter(changesCreatedRow))
    .at(-1);
  const refusedChanges = !lastChange
    ? write.changes
    : lastChange.after
      ? [{ after: lastChange.after }]
      : [];
  const refusals = refusedChanges.map((change) => ({ change, error }));
  const remainingWrites = queue.writes.value.flatMap((each) => {
    const changes = each.changes.filter((change) => !changesCreatedRow(change));
    return each.key !== write.key && changes.length > 0 ? { ...each, changes } : [];
  });
  queue.replace(remainingWrites);
  ports.onRefused(refusals, write);
  const remainingKeys = new Set(remainingWrites.map(({ key }) => key));
  for (const key of waiters.keys())
    if (!remainingKeys.has(key)) notifyWaiter(sender, key, refusals);
}
