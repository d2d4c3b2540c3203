// Whose turn it is: one run at a time, and of that run one step at a time. Each turn has a higher epoch,
// and a step that was thought dead learns at its next write that its epoch is over.
import type { Database, Item, Write } from '../../store/database.ts';
import { setOn } from '../../store/update-writes.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { type Ticker, whileBeating } from './heartbeat.ts';
import { LOCK_KEY } from './run-keys.ts';

export interface Lease {
  readonly runId: string;
  readonly epoch: number;
}

export type RunLock = ReturnType<typeof createRunLock>;

const NO_RUN = '';
const NO_LEASE = 0;
const IS_FREE = 'attribute_not_exists(pk) OR (active_run = :none AND epoch = :seen)';
const IS_MY_TURN = 'active_run = :run AND epoch = :seen AND lease_until <= :now';
const IS_MY_EPOCH = 'epoch = :epoch';

export function createRunLock(options: {
  readonly database: Database;
  readonly clock: () => Date;
  /** The lock of a crashed step expires after this time. */
  readonly leaseMs: number;
  readonly ticker: Ticker;
}) {
  const { database, leaseMs, ticker } = options;
  const now = () => options.clock().getTime();

  async function activeRun(): Promise<string | undefined> {
    const lock = await database.get(LOCK_KEY);
    return lock && lock.active_run !== NO_RUN ? String(lock.active_run) : undefined;
  }

  /** The run that has or last had the lock. */
  async function latestRun(): Promise<string | undefined> {
    const lock = await database.get(LOCK_KEY);
    return lock && String(lock.latest_run);
  }

  /** The write by which a new run gets the lock. */
  async function claim(runId: string): Promise<Write> {
    const seen = epochOf(await database.get(LOCK_KEY));
    const taken = { active_run: runId, latest_run: runId, epoch: seen + 1, lease_until: NO_LEASE };
    return setOn(LOCK_KEY, taken, {
      expression: IS_FREE,
      values: { ':none': NO_RUN, ':seen': seen },
      onConditionFailed: (lock) =>
        new Refusal('RefusedOtherRun', `Run ${lock?.active_run} is under way.`),
    });
  }

  /**
   * Begins a turn; a turn whose lease has run out is thereby over.
   * @throws Refusal when the lock is another run's; RetryableFailure while another step has its turn
   */
  async function take(runId: string): Promise<Lease> {
    const seen = epochOf(await database.get(LOCK_KEY));
    const turn = setOn(
      LOCK_KEY,
      { epoch: seen + 1, lease_until: now() + leaseMs },
      {
        expression: IS_MY_TURN,
        values: { ':run': runId, ':seen': seen, ':now': now() },
        onConditionFailed: (lock) => notYourTurn(runId, lock),
      },
    );
    await database.commit([turn]);
    return { runId, epoch: seen + 1 };
  }

  /** The write that holds others back while this turn lasts; no turn's work is recorded without it. */
  function fence({ runId, epoch }: Lease, leaseUntil = now() + leaseMs): Write {
    return setOn(
      LOCK_KEY,
      { lease_until: leaseUntil },
      {
        expression: IS_MY_EPOCH,
        values: { ':epoch': epoch },
        onConditionFailed: () => stale(runId, epoch),
      },
    );
  }

  /** Before each batch of changes. @throws Refusal when the turn is over */
  async function renew(lease: Lease): Promise<void> {
    await database.commit([fence(lease)]);
  }

  /**
   * Keeps the turn for as long as the work takes; the signal tells the work that it is over.
   * @param assertMay throws the reason when it is not to be kept any longer
   */
  function keep<Result>(
    lease: Lease,
    assertMay: () => void,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const beat = async () => {
      assertMay();
      await renew(lease);
    };
    return whileBeating({ renew: beat, now, leaseMs, ticker }, work);
  }

  /** Ends the turn, if it is not over already. */
  async function release(lease: Lease): Promise<void> {
    try {
      await database.commit([fence(lease, NO_LEASE)]);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** The write by which a run that has ended frees the lock for the next one. */
  function free({ runId, epoch }: Lease): Write {
    return setOn(
      LOCK_KEY,
      { active_run: NO_RUN, lease_until: NO_LEASE },
      {
        expression: IS_MY_EPOCH,
        values: { ':epoch': epoch },
        onConditionFailed: () => stale(runId, epoch),
      },
    );
  }

  return { activeRun, latestRun, claim, take, fence, renew, keep, release, free };
}

function epochOf(lock: Item | undefined): number {
  return Number(lock?.epoch ?? 0);
}

function notYourTurn(runId: string, lock: Item | undefined): Error {
  if (lock?.active_run !== runId) {
    const other = lock?.active_run
      ? `Run ${lock.active_run} is under way.`
      : 'No run is under way.';
    return new Refusal(lock?.active_run ? 'RefusedOtherRun' : 'RefusedRunEnded', other);
  }
  const until = new Date(Number(lock.lease_until)).toISOString();
  return new RetryableFailure(
    'RetryableLockHeld',
    `Another step of run ${runId} holds the lock; if it crashed, the lock expires at ${until}.`,
  );
}

function stale(runId: string, epoch: number): Refusal {
  return new Refusal(
    'RefusedLockLost',
    `The lock of run ${runId} was taken over (epoch ${epoch} is over).`,
  );
}
