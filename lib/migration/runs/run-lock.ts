// The lock: only one run is under way, and only one of its steps at a time. Each lease has a higher epoch than the last, so a step
// that was presumed dead learns at its next write that its epoch is over. A single call may take longer than a lease, so the lease
// is renewed by a heartbeat, which stops with the step: the lock of a crashed step expires.
import type { Database, Item, Key, Write } from '../../shared/database.ts';
import { setAttributes } from '../../shared/update-writes.ts';
import { hasEnded } from '../phases.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { type LeaseHolder, UNKNOWN_HOLDER } from './lease-holder.ts';

export interface Lease {
  readonly runId: string;
  readonly epoch: number;
}

/** live: a rollback is still possible. left: the run was aborted, and collections that users worked on are kept for a time. */
export type Retained = 'live' | 'left';

export type RunLock = ReturnType<typeof createRunLock>;

const NO_RUN = '';
const NO_LEASE = 0;
const NO_HOLDER = '';
/** After a process is killed, its last requests can still arrive for this long. */
const ARRIVAL_MS = 3_000;
/** Number of runs that are listed for a person who asks for a run that does not exist */
const MAX_KNOWN_RUNS = 20;
/** No lock has this epoch: a condition on it always fails. */
const NO_EPOCH = -1;
const IS_UNCHANGED = 'attribute_not_exists(pk) OR epoch = :seen';
const IS_EXPIRED = 'epoch = :seen AND lease_until <= :now';
const IS_LEASE_EPOCH = 'epoch = :epoch';

export function createRunLock(options: {
  readonly database: Database;
  readonly clock: () => Date;
  /** The lock of a crashed step expires after this time. */
  readonly leaseMs: number;
  readonly ticker: Ticker;
  readonly holder?: LeaseHolder;
}) {
  const { database, leaseMs, ticker, holder = UNKNOWN_HOLDER } = options;
  const now = () => options.clock().getTime();

  async function activeRun(): Promise<string | undefined> {
    const lock = await database.get(LOCK_KEY);
    return lock && lock.active_run !== NO_RUN ? String(lock.active_run) : undefined;
  }

  /** Finds the run under way, or else the last live run that can be rolled back, or else the last run that ended. */
  async function currentRun(): Promise<string | undefined> {
    const lock = await database.get(LOCK_KEY);
    return lock && String(lock.active_run || liveRunsOf(lock).at(-1) || lock.latest_run);
  }

  /** Reads the lease of the step that works on the run, or that crashed; undefined after its end. */
  async function leaseOf(runId: string): Promise<{ since: number; until: number } | undefined> {
    const lock = await database.get(LOCK_KEY);
    const [since, until] = [Number(lock?.lease_since ?? 0), Number(lock?.lease_until)];
    return lock?.active_run === runId && until > now() ? { since, until } : undefined;
  }

  /** Lists the live and aborted runs that have released the lock but keep collections that must be removed later. */
  async function retainedRuns(): Promise<string[]> {
    return retainedRunsOf(await database.get(LOCK_KEY));
  }

  /** Lists the latest runs, oldest first. */
  async function knownRuns(): Promise<string[]> {
    return knownRunsOf(await database.get(LOCK_KEY));
  }

  // A run that is live or has ended needs no lock, even if its last step crashed while it held the lock. A rollback needs it.
  async function isFree(lock: Item | undefined): Promise<boolean> {
    if (!lock || lock.active_run === NO_RUN) return true;
    if (Number(lock.lease_until) > now()) return false;
    const run = await database.get(recordKey(String(lock.active_run)));
    return run?.phase === 'live' || hasEnded(run?.phase);
  }

  /** @throws Refusal while another run is under way */
  async function assertFree(): Promise<void> {
    const lock = await database.get(LOCK_KEY);
    if (!(await isFree(lock))) throw refuseOtherRun(lock);
  }

  /** Creates the write by which a new run gets the lock. The write is refused while another run has the lock. */
  async function claimWrite(runId: string): Promise<Write> {
    const lock = await database.get(LOCK_KEY);
    const currentEpoch = epochOf(lock);
    const runs = [...knownRunsOf(lock), runId].slice(-MAX_KNOWN_RUNS);
    const lockFields = { active_run: runId, epoch: currentEpoch + 1, lease_until: NO_LEASE, runs };
    return setAttributes(LOCK_KEY, lockFields, {
      expression: IS_UNCHANGED,
      values: { ':seen': (await isFree(lock)) ? currentEpoch : NO_EPOCH },
      onConditionFailed: refuseOtherRun,
    });
  }

  /** @throws Refusal when another run holds the lock */
  async function assertCanTake(runId: string): Promise<Item | undefined> {
    const lock = await database.get(LOCK_KEY);
    const mayTake = retainedRunsOf(lock).includes(runId) && (await isFree(lock));
    if (lock?.active_run !== runId && !mayTake) throw explainRefusal(runId, lock);
    return lock;
  }

  /**
   * Begins a lease; an earlier one must have expired.
   * @throws Refusal when another run holds the lock; RetryableFailure while another step has the lease
   */
  async function take(runId: string): Promise<Lease> {
    const lock = await assertCanTake(runId);
    const currentEpoch = epochOf(lock);
    const lockFields = {
      active_run: runId,
      epoch: currentEpoch + 1,
      lease_holder: holder.self ?? NO_HOLDER,
      lease_since: now(),
      lease_until: now() + leaseMs,
    };
    const leaseWrite = setAttributes(LOCK_KEY, lockFields, {
      expression: IS_EXPIRED,
      values: {
        ':seen': currentEpoch,
        ':now': isHolderDead(lock) ? Number(lock?.lease_until) : now(),
      },
      onConditionFailed: (lock) => explainRefusal(runId, lock),
    });
    await database.commit([leaseWrite]);
    return { runId, epoch: currentEpoch + 1 };
  }

  /** True if the process that holds the lease has ended, and none of its requests can still arrive. */
  function isHolderDead(lock: Item | undefined): boolean {
    const renewedAt = Number(lock?.lease_until) - leaseMs;
    const name = String(lock?.lease_holder ?? NO_HOLDER);
    return name !== NO_HOLDER && now() - renewedAt >= ARRIVAL_MS && holder.hasEnded(name);
  }

  /** Creates the write that fails once this lease is lost. Every transaction that records work contains this write. */
  function fenceWrite(lease: Lease, leaseUntil = now() + leaseMs): Write {
    return setUnderLease(lease, { lease_until: leaseUntil });
  }

  /** Called before each batch of changes. @throws Refusal when the lease is lost */
  async function renew(lease: Lease): Promise<void> {
    await database.commit([fenceWrite(lease)]);
  }

  /**
   * Renews the lease while the work lasts. The work's signal aborts when the lease is lost.
   * @param assertMayKeep throws the reason why the lease must not be kept any longer
   */
  function keepLease<Result>(
    lease: Lease,
    assertMayKeep: () => void,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const beat = async () => {
      assertMayKeep();
      await renew(lease);
    };
    return keepLeaseDuring({ renew: beat, now, leaseMs, ticker }, work);
  }

  /** Ends the lease, unless it has ended already. @param retained present if the run no longer needs the lock */
  async function release(lease: Lease, retained?: Retained | 'ended'): Promise<void> {
    try {
      await database.commit([
        retained ? await releaseWrite(lease, retained) : fenceWrite(lease, NO_LEASE),
      ]);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** Creates the write by which a run that is live, or has ended, frees the lock for the next one. */
  async function releaseWrite(lease: Lease, retained?: Retained | 'ended'): Promise<Write> {
    const lock = await database.get(LOCK_KEY);
    const { runId } = lease;
    const leftRuns = readNames(lock?.left_runs);
    const latest_run = leftRuns.includes(runId) ? lock?.latest_run : runId;
    const updateList = (names: string[], isListed: boolean) => {
      const otherNames = names.filter((other) => other !== runId);
      return isListed ? [...otherNames, runId] : otherNames;
    };
    const live_runs = updateList(liveRunsOf(lock), retained === 'live');
    const left_runs = updateList(leftRuns, retained === 'left');
    const lockFields = {
      active_run: NO_RUN,
      latest_run,
      lease_until: NO_LEASE,
      live_runs,
      left_runs,
    };
    return setUnderLease(lease, lockFields);
  }

  return {
    activeRun,
    currentRun,
    retainedRuns,
    knownRuns,
    leaseOf,
    assertFree,
    assertCanTake,
    claimWrite,
    take,
    fenceWrite,
    renew,
    keepLease,
    release,
    releaseWrite,
  };
}

function retainedRunsOf(lock: Item | undefined): string[] {
  return [...liveRunsOf(lock), ...readNames(lock?.left_runs)];
}

function liveRunsOf(lock: Item | undefined): string[] {
  return readNames(lock?.live_runs);
}

function knownRunsOf(lock: Item | undefined): string[] {
  return readNames(lock?.runs);
}

function readNames(names: unknown): string[] {
  return Array.isArray(names) ? names.map(String) : [];
}

function refuseOtherRun(lock: Item | undefined): Refusal {
  const otherRun = String(lock?.active_run);
  return new Refusal('RefusedOtherRun', `Run ${otherRun} is under way.`, { data: { otherRun } });
}

function epochOf(lock: Item | undefined): number {
  return Number(lock?.epoch ?? 0);
}

function explainRefusal(runId: string, lock: Item | undefined): Error {
  if (lock?.active_run !== runId) {
    return lock?.active_run
      ? refuseOtherRun(lock)
      : new Refusal('RefusedNotNow', 'No run is under way.');
  }
  const until = new Date(Number(lock.lease_until)).toISOString();
  return new RetryableFailure(
    'RetryableLockHeld',
    `Another step of run ${runId} holds the lock; if it crashed, the lock expires at ${until}.`,
  );
}

function setUnderLease(
  { runId, epoch }: Lease,
  attributes: Parameters<typeof setAttributes>[1],
): Write {
  const why = `The lock of run ${runId} was taken over (epoch ${epoch} is over).`;
  return setAttributes(LOCK_KEY, attributes, {
    expression: IS_LEASE_EPOCH,
    values: { ':epoch': epoch },
    onConditionFailed: () => new Refusal('RefusedLockLost', why),
  });
}

export const LOCK_KEY: Key = { pk: '@migration', sk: 'LOCK' };

/** Key of a record that belongs to a run */
export function keyOf(runId: string, sortKey: string): Key {
  return { pk: `@migration#${runId}`, sk: sortKey };
}

export function recordKey(runId: string): Key {
  return keyOf(runId, 'RECORD');
}

/** Calls `tick` repeatedly. @returns a function that stops it */
export type Ticker = (everyMs: number, tick: () => Promise<void>) => () => void;

export const startInterval: Ticker = (everyMs, tick) => {
  const timer = setInterval(() => void tick(), everyMs);
  return () => clearInterval(timer);
};

interface Heartbeat {
  /** @throws Refusal when the lease is lost */
  readonly renew: () => Promise<void>;
  readonly now: () => number;
  readonly leaseMs: number;
  readonly ticker: Ticker;
}

/** Renewals per lease; the lease is kept if any of them succeeds. */
const BEATS_PER_LEASE = 4;

/** @param work gets a signal that aborts when the lease is lost, or expires because it could not be renewed */
export async function keepLeaseDuring<Result>(
  { renew, now, leaseMs, ticker }: Heartbeat,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let renewedAt = now();
  let pendingBeat: Promise<void> | undefined;

  async function beat(): Promise<void> {
    const startedAt = now();
    try {
      await renew();
      renewedAt = startedAt;
    } catch (error) {
      if (error instanceof Refusal || now() - renewedAt >= leaseMs) controller.abort(error);
    }
  }

  const stop = ticker(leaseMs / BEATS_PER_LEASE, async () => {
    pendingBeat ??= beat().finally(() => {
      pendingBeat = undefined;
    });
    await pendingBeat;
  });
  try {
    return await work(controller.signal);
  } finally {
    stop();
    // If a renewal arrived after the release that follows, the lock would be held again.
    await pendingBeat;
  }
}
