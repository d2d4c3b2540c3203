// Users who create, change and delete memories all the time, the ledger of the writes that were acknowledged to them, and
// the comparison of that ledger with the memories that users see.
import { setTimeout as pause } from 'node:timers/promises';
import { Mem0RefusalError, type Mem0User } from './real-services.ts';

export interface Memory {
  readonly user: string;
  readonly text: string | undefined;
}

/** Memories by id */
export type Memories = ReadonlyMap<string, Memory>;

export interface Ledger {
  /** Memories that must exist, byte for byte */
  readonly expected: Memories;
  /** Deletions that were acknowledged. */
  readonly deleted: ReadonlySet<string>;
  /** Ids and texts of writes without a response so far: either outcome is right. */
  readonly unanswered: ReadonlySet<string>;
}

export interface Faults {
  /** Acknowledged memories that are missing */
  readonly lost: readonly string[];
  /** Memories that no acknowledged write explains */
  readonly doubled: readonly string[];
  /** Memories as they were before an acknowledged change or deletion */
  readonly stale: readonly string[];
}

const WRITE_KINDS = ['create', 'change', 'delete'] as const;

/** Longest wait for acknowledged writes; a longer wait means that something hangs */
const MAX_WAIT_MS = 180_000;

/**
 * Starts users who write whether the service answers or not.
 * @param findMemories reads the memories that users see now
 */
export function startBusyUsers(options: {
  readonly url: string;
  readonly users: readonly Mem0User[];
  readonly memories: Memories;
  readonly writesPerSecond: number;
  readonly findMemories: () => Promise<Memories>;
}) {
  const { url, users, findMemories } = options;
  const pauseMs = 1_000 / options.writesPerSecond;
  let expected = new Map(options.memories);
  let [deleted, unanswered] = [new Set<string>(), new Set<string>()];
  const inFlight = new Set<string>();
  const failures: string[] = [];
  const counts = { create: 0, change: 0, delete: 0, refused: 0, unanswered: 0 };
  const writing = new Set<Promise<void>>();
  let started = 0;
  let refusedSince: number | undefined;
  let longestRefusalMs = 0;
  const countAcknowledged = () => WRITE_KINDS.reduce((sum, kind) => sum + counts[kind], 0);

  /** Finds the user's memory that has gone without a write for the longest time. */
  function findOldest({ userId }: Mem0User): string | undefined {
    return [...expected].find(([id, { user }]) => user === userId && !inFlight.has(id))?.[0];
  }

  async function create(user: Mem0User, text: string): Promise<void> {
    const id = await user.add(url, text);
    expected.set(id, { user: user.userId, text });
  }

  async function change(user: Mem0User, id: string, text: string): Promise<void> {
    await user.change(url, id, text);
    expected.delete(id);
    expected.set(id, { user: user.userId, text });
  }

  async function remove(user: Mem0User, id: string): Promise<void> {
    await user.remove(url, id);
    expected.delete(id);
    deleted.add(id);
  }

  async function write(n: number): Promise<void> {
    const user = users[Math.floor(n / WRITE_KINDS.length) % users.length];
    const kind = WRITE_KINDS[n % WRITE_KINDS.length] ?? 'create';
    const id = user && kind !== 'create' ? findOldest(user) : undefined;
    const text = `Fact ${n} about the rowing club`;
    if (!user || (kind !== 'create' && id === undefined)) return;
    const idAndText = id === undefined ? [text] : [id, text];
    for (const part of idAndText) inFlight.add(part);
    try {
      if (id === undefined) await create(user, text);
      else await (kind === 'change' ? change(user, id, text) : remove(user, id));
      counts[kind] += 1;
      if (refusedSince) longestRefusalMs = Math.max(longestRefusalMs, Date.now() - refusedSince);
      refusedSince = undefined;
    } catch (error) {
      if (isRefused(error)) {
        counts.refused += 1;
        refusedSince ??= Date.now();
      } else {
        if (error instanceof Mem0RefusalError) failures.push(error.message);
        else counts.unanswered += 1;
        for (const part of idAndText) unanswered.add(part);
        if (id) expected.delete(id);
      }
    } finally {
      for (const part of idAndText) inFlight.delete(part);
    }
  }

  const timer = setInterval(() => {
    const pending = write(started).finally(() => writing.delete(pending));
    writing.add(pending);
    started += 1;
  }, pauseMs);

  const ledger = (): Ledger => ({
    expected: new Map([...expected].filter(([id]) => !inFlight.has(id))),
    deleted: new Set(deleted),
    unanswered: new Set([...unanswered, ...inFlight]),
  });

  return {
    ledger,
    /** Reverts to an earlier ledger, because the operator chose to leave later writes behind. */
    revertTo(earlier: Ledger): void {
      expected = new Map(earlier.expected);
      [deleted, unanswered] = [new Set(earlier.deleted), new Set(earlier.unanswered)];
    },
    /** Waits until this many more writes are acknowledged. */
    async awaitWrites(count: number): Promise<void> {
      const [goal, deadline] = [countAcknowledged() + count, Date.now() + MAX_WAIT_MS];
      while (countAcknowledged() < goal) {
        if (Date.now() > deadline) throw new Error(`No ${count} writes in ${MAX_WAIT_MS} ms`);
        await pause(pauseMs);
      }
    },
    /** Makes this many deletions, one user after the other, in addition to the regular writes. */
    async remove(count: number): Promise<void> {
      for (let n = 0; n < count; n += 1)
        await write(n * WRITE_KINDS.length + WRITE_KINDS.indexOf('delete'));
    },
    /** Compares the ledger with the memories; users may keep writing meanwhile. */
    async faults(): Promise<Faults> {
      const before = ledger();
      const memories = await findMemories();
      const [first, second] = [before, ledger()].map((known) => findFaults(memories, known));
      // A memory that is written in between differs from one of the two ledgers, never from both.
      const listInBoth = (kind: keyof Faults) =>
        first?.[kind].filter((fault) => second?.[kind].includes(fault)) ?? [];
      return {
        lost: listInBoth('lost'),
        doubled: listInBoth('doubled'),
        stale: listInBoth('stale'),
      };
    },
    refused: () => counts.refused,
    /** Responses that no write should get */
    failures: () => [...failures],
    summary: () =>
      `${countAcknowledged()} writes acknowledged, ${JSON.stringify(counts)}, refused for at most ${(longestRefusalMs / 1_000).toFixed(1)} s`,
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(writing);
    },
  };
}

// The service is under maintenance, or no server is listening: either way the write has not begun.
function isRefused(error: unknown): boolean {
  if (error instanceof Mem0RefusalError) return error.status === 503;
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === 'ECONNREFUSED';
}

function findFaults(memories: Memories, { expected, deleted, unanswered }: Ledger): Faults {
  const differs = ([id, { user, text }]: readonly [string, Memory]) => {
    const memory = memories.get(id);
    return memory && (memory.text !== text || memory.user !== user);
  };
  const isUnexplained = ([id, { text = '' }]: readonly [string, Memory]) =>
    !expected.has(id) && !deleted.has(id) && !unanswered.has(id) && !unanswered.has(text);
  const describeMemory = ([id, { user, text }]: readonly [string, Memory]) =>
    `${id} of ${user}: ${text}`;
  const returned = [...memories].filter(([id]) => deleted.has(id));
  return {
    lost: [...expected].filter(([id]) => !memories.has(id)).map(describeMemory),
    doubled: [...memories].filter(isUnexplained).map(describeMemory),
    stale: [...[...expected].filter(differs), ...returned].map(describeMemory),
  };
}
