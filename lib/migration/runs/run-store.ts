// Stores runs in one table: each run's record, the checkpoints of its steps, people's confirmations, the time of the last reminder,
// and the read rate. Only records and checkpoints are written under the lease of a step.
import * as v from 'valibot';
import { createDatabase, type Database, type Item, type Write } from '../../shared/database.ts';
import { DEFAULT_RETRY_POLICY } from '../../shared/retry.ts';
import { createNoConditionError } from '../../shared/update-writes.ts';
import { type Command, type ExternalAction, hasEnded } from '../phases.ts';
import { notNow, Refusal } from '../refusals.ts';
import { type LeaseHolder, UNKNOWN_HOLDER } from './lease-holder.ts';
import {
  type Checkpoint,
  newRun,
  type Plan,
  type Reference,
  type Run,
  retainedAs,
  STORED_CHECKPOINT,
  STORED_RUN,
} from './run.ts';
import {
  createRunLock,
  keyOf,
  type Lease,
  type RunLock,
  recordKey,
  startInterval,
  type Ticker,
} from './run-lock.ts';

export type RunStore = ReturnType<typeof createRunStore>;

const IS_NEW = 'attribute_not_exists(pk)';

const REMINDER = 'REMINDER';
const MAX_RATE = 'MAX_RATE';
const nameCheckpoint = (step: Command) => `CHECKPOINT#${step}`;
const nameConfirmation = ({ action, epoch }: NonNullable<Run['pendingAction']>) =>
  `CONFIRMED#${action}#${epoch}`;

const confirmationSchema = v.object({ confirmed_by: v.string() });

function createRunStore(options: {
  readonly database: Database;
  readonly lock: RunLock;
  readonly clock: () => Date;
}) {
  const { database, lock } = options;
  const now = () => options.clock().getTime();

  /**
   * @param report reference to the preflight report
   * @throws Refusal when the id was used before, or while another run is under way
   */
  async function start(runId: string, plan: Plan, report: Reference): Promise<Run> {
    const run = newRun({ runId, plan, evidence: { 'preflight-report': report } }, options.clock());
    const putNew = {
      Put: { Item: toItem(run), ConditionExpression: IS_NEW },
      onConditionFailed: (item?: Item) => refuseExistingRun(runId, item),
    };
    await database.commit([putNew, await lock.claimWrite(runId)]);
    return run;
  }

  /** @throws Refusal for an id that no run has */
  async function read(runId: string): Promise<Run> {
    const item = await database.get(recordKey(runId));
    if (!item) throw refuseUnknownRun(runId, await lock.knownRuns());
    return STORED_RUN.read(item.record);
  }

  /** Replaces the record. @throws Refusal when the lease is lost */
  async function write(lease: Lease, run: Run): Promise<void> {
    await database.commit([lock.fenceWrite(lease), put(toItem(run))]);
  }

  /**
   * Records a step's end and deletes its checkpoint, so that a repeated step starts from the beginning. A run that enters `copied`
   * has no switch under way, so the checkpoint of the cutover is deleted, too. A run that is live or has ended frees the lock.
   * @throws Refusal when the lease is lost
   */
  async function finish(lease: Lease, run: Run, step: Command): Promise<void> {
    const retained = retainedAs(run);
    const freesLock = retained !== undefined || hasEnded(run.phase);
    const fence = freesLock ? await lock.releaseWrite(lease, retained) : lock.fenceWrite(lease);
    const finished = new Set<Command>([
      step,
      ...(run.phase === 'copied' ? (['cutover'] as const) : []),
    ]);
    const deletions = [...finished].map((command) => ({
      Delete: { Key: keyOf(run.runId, nameCheckpoint(command)) },
      onConditionFailed: createNoConditionError,
    }));
    await database.commit([fence, put(toItem(run)), ...deletions]);
  }

  /** Call after the work that the checkpoint describes is durable. @throws Refusal when the lease is lost */
  async function saveCheckpoint(
    lease: Lease,
    step: Command,
    checkpoint: Pick<Checkpoint, 'state'> &
      Partial<Pick<Checkpoint, 'progress' | 'inputs' | 'workedMs'>>,
  ): Promise<void> {
    const content = STORED_CHECKPOINT.write({ ...checkpoint, savedAt: now() });
    const item = { ...keyOf(lease.runId, nameCheckpoint(step)), epoch: lease.epoch, content };
    await database.commit([lock.fenceWrite(lease), put(item)]);
  }

  async function readCheckpoint(runId: string, step: Command): Promise<Checkpoint | undefined> {
    const item = await database.get(keyOf(runId, nameCheckpoint(step)));
    return item && STORED_CHECKPOINT.read(item.content);
  }

  /** @throws Refusal unless the action is pending: if it were confirmed in advance, it would count as done when requested */
  async function confirm(
    { runId, phase, pendingAction }: Run,
    { action, by }: { readonly action: ExternalAction; readonly by: string },
  ): Promise<void> {
    if (pendingAction?.action !== action) {
      const pending = pendingAction ? `"${pendingAction.action}" is` : 'nothing is';
      const why = `"${action}" is not pending in a run that is ${phase}: ${pending}.`;
      throw notNow(why);
    }
    const key = keyOf(runId, nameConfirmation(pendingAction));
    await database.commit([put({ ...key, confirmed_by: by, confirmed_at: now() })]);
  }

  /** Reads who confirmed the pending action; undefined before the confirmation. */
  async function confirmedBy({ runId, pendingAction }: Run): Promise<string | undefined> {
    if (!pendingAction) return undefined;
    const item = await database.get(keyOf(runId, nameConfirmation(pendingAction)));
    return item && v.parse(confirmationSchema, item).confirmed_by;
  }

  /** Stored outside of the record, which is written under the lock: people are reminded even while another run holds the lock. */
  async function recordReminder(runId: string): Promise<void> {
    await database.commit([put({ ...keyOf(runId, REMINDER), reminded_at: now() })]);
  }

  /** Reads when people were last reminded that the rollback period ends, or that something must be kept for longer. */
  async function remindedAt(runId: string): Promise<number | undefined> {
    const item = await database.get(keyOf(runId, REMINDER));
    return item && Number(item.reminded_at);
  }

  /** Stored outside of the record, because the rate can change while a step works. @param maxRate points per second; 0: no limit */
  async function limitRate(runId: string, maxRate: number): Promise<void> {
    await database.commit([put({ ...keyOf(runId, MAX_RATE), max_rate: maxRate })]);
  }

  /** Reads the limit of points read per second; undefined if unlimited. */
  async function maxRate(runId: string): Promise<number | undefined> {
    const item = await database.get(keyOf(runId, MAX_RATE));
    return Number(item?.max_rate ?? 0) || undefined;
  }

  return {
    start,
    read,
    write,
    finish,
    saveCheckpoint,
    readCheckpoint,
    confirm,
    confirmedBy,
    recordReminder,
    remindedAt,
    limitRate,
    maxRate,
  };
}

function toItem(run: Run): Item {
  return { ...recordKey(run.runId), phase: run.phase, record: STORED_RUN.write(run) };
}

function put(item: Item): Write {
  return { Put: { Item: item }, onConditionFailed: createNoConditionError };
}

function refuseUnknownRun(runId: string, known: readonly string[]): Refusal {
  const hint = known.length > 0 ? `; known runs: ${known.join(', ')}` : '';
  return new Refusal('RefusedUnknownRun', `There is no run ${runId}${hint}.`);
}

function refuseExistingRun(runId: string, item?: Item): Refusal {
  return new Refusal(
    'RefusedNameTaken',
    `Run ${runId}${item ? ` (${item.phase})` : ''} exists already.`,
  );
}

/** A crashed step's lock expires after this time, or earlier if its process is seen to have ended. Longer than any change takes. */
export const LEASE_MS = 120_000;

export type RunRecords = ReturnType<typeof createRunRecords>;

export function createRunRecords(options: {
  readonly client: Parameters<typeof createDatabase>[0]['client'];
  readonly tableName: string;
  readonly clock: () => Date;
  readonly ticker?: Ticker;
  readonly holder?: LeaseHolder;
}) {
  const { client, tableName, clock, ticker = startInterval, holder = UNKNOWN_HOLDER } = options;
  const database = createDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  const lock = createRunLock({ database, clock, leaseMs: LEASE_MS, ticker, holder });
  return { clock, lock, runs: createRunStore({ database, lock, clock }) };
}
