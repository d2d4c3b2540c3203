// A restore as a list of steps, which reads like the runbook. Each step checks on AWS whether it is already done, so the
// command can be killed anywhere and repeated: it resumes with the first step that is not done.
import type { TableDescription } from '@aws-sdk/client-dynamodb';
import type { TableVerdict } from '../../lib/ledger/store/verification/all-ledgers.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import type { StageOnAws } from './stage-on-aws.ts';

export interface Step {
  readonly title: string;
  isDone(): Promise<boolean>;
  run(): Promise<void>;
}

export interface RestorationOptions {
  readonly aws: Omit<StageOnAws, 'client'>;
  /** Name of the stage. */
  readonly stage: string;
  /** The table that held the data at `time`. */
  readonly source: string;
  /** The table to which the stage moves. */
  readonly target: string;
  /** The moment to restore; undefined if the target already exists, such as a table restored from a backup. */
  readonly time: Date | undefined;
  readonly verify: (tableName: string) => Promise<TableVerdict>;
  /** Adds ledgers to the table's list of ledgers, and returns how many were added. */
  readonly addToLedgerList: (tableName: string, ledgerIds: readonly string[]) => Promise<number>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly report: (line: string) => void;
}

const POLL_MS = 15_000;
/** Name of the tag on a table whose ledgers are verified. */
const VERIFIED_TAG = 'verified';
const MAX_LISTED_IDS = 20;
// DynamoDB throws this error while a table is only a few minutes old, too new for point-in-time recovery.
const RECOVERY_NOT_READY = 'ContinuousBackupsUnavailableException';

/**
 * Names the restored table after the time, so that a repeated command finds the table that the first command began to restore.
 */
export function nameRestoredTable(stackName: string, time: Date): string {
  return `${stackName}-at-${time.toISOString().replace(/[-:]|\.\d+/g, '')}`;
}

/** Returns the steps of a restore in order, and separately the last one, which `--abort` runs alone. */
export function createRestoration(options: RestorationOptions) {
  const { aws, stage, source, target, time } = options;
  const table = createTableSteps(options);
  const writers = createWriters(aws);
  const { isSwitched, isSwitchComplete, switchTable } = createSwitch(options);
  /** Treats the step as done once the stage has switched, because its work is then no longer needed. */
  const beforeSwitch = (step: Step): Step => ({
    ...step,
    isDone: async () => (await isSwitched()) || (await step.isDone()),
  });
  const allowWrites: Step = {
    title: 'Allow writes',
    isDone: writers.areAllowed,
    run: writers.allow,
  };
  const steps: readonly Step[] = [
    beforeSwitch({
      title: 'Stop writes; reads continue',
      isDone: writers.areStopped,
      run: async () => {
        await table.refuseUnrestorableTime();
        await writers.stop();
      },
    }),
    beforeSwitch({
      title: time
        ? `Restore ${source} as of ${time.toISOString()} into ${target}`
        : `Wait for ${target}`,
      isDone: table.isActive,
      run: table.restore,
    }),
    beforeSwitch({
      title: `Give ${target} the protection, recovery, expiry, limits and tags of ${source}`,
      isDone: table.hasSettings,
      run: table.applySettings,
    }),
    beforeSwitch({
      title: `Verify all ledgers of ${target} in one scan`,
      isDone: table.isVerified,
      run: table.verifyAll,
    }),
    {
      title: `Switch the stage ${stage} to ${target}`,
      isDone: isSwitchComplete,
      run: switchTable,
    },
    allowWrites,
  ];
  return { steps, allowWrites };
}

/** Creates the steps that restore the target table, give it the settings of the source, and verify it. */
function createTableSteps(options: RestorationOptions) {
  const { aws, stage, source, target, time, verify, addToLedgerList, sleep, report } = options;

  async function isActive(): Promise<boolean> {
    return (await aws.describeTable(target))?.TableStatus === 'ACTIVE';
  }

  async function waitForTable(): Promise<TableDescription> {
    for (;;) {
      const table = await aws.describeTable(target);
      if (table?.TableStatus === 'ACTIVE') return table;
      if (!['CREATING', 'UPDATING'].includes(table?.TableStatus ?? '')) {
        throw new UserError(
          `The table ${target} is ${table?.TableStatus ?? 'missing'}: the stage cannot move to it. Give another --to or --table.`,
        );
      }
      report(
        `${target} is ${table?.TableStatus}. It takes minutes to hours, and continues without this command.`,
      );
      await sleep(POLL_MS);
    }
  }

  async function refuseUnrestorableTime(): Promise<void> {
    if (time === undefined) return;
    const { earliest, latest } = await aws.readRecovery(source);
    const isRestorable = (!earliest || time >= earliest) && (!latest || time <= latest);
    if (isRestorable) return;
    throw new UserError(
      `${source} can be restored to times from ${earliest?.toISOString()} to ${latest?.toISOString()}. Give another --to, or name the table that held the data at that time with --from.`,
    );
  }

  async function restore(): Promise<void> {
    if (time && !(await aws.describeTable(target))) await aws.restore(source, target, time);
    await waitForTable();
  }

  /** Lists the changes that complete the table's settings: a restore copies only data and indexes. */
  async function listSettingChanges(table: TableDescription) {
    const sourceTable = await aws.describeTable(source);
    const limits = sourceTable?.OnDemandThroughput;
    const changes: (() => Promise<void>)[] = [];
    if (!table.DeletionProtectionEnabled) {
      changes.push(() => aws.protectFromDeletion(target));
    }
    if (limits && !areLimitsEqual(limits, table.OnDemandThroughput)) {
      const indexes = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName = '' }) => IndexName);
      changes.push(() => aws.limitThroughput(target, limits, indexes));
    }
    if (!(await aws.readRecovery(target)).isOn) {
      const { days } = await aws.readRecovery(source);
      changes.push(() => aws.enableRecovery(target, days));
    }
    if (!(await aws.isExpiryOn(target))) changes.push(() => aws.enableExpiry(target));
    const sourceTags = await aws.readTags(sourceTable?.TableArn ?? '');
    const targetTags = await aws.readTags(table.TableArn ?? '');
    const missingTags = [...sourceTags].filter(
      ([name]) => name !== VERIFIED_TAG && !targetTags.has(name),
    );
    if (missingTags.length > 0) {
      changes.push(() => aws.addTags(table.TableArn ?? '', new Map(missingTags)));
    }
    return changes;
  }

  async function hasSettings(): Promise<boolean> {
    const table = await aws.describeTable(target);
    return table !== undefined && (await listSettingChanges(table)).length === 0;
  }

  async function applySettings(): Promise<void> {
    // Applies one change at a time, because a table accepts no other change while it is updated.
    for (const change of await listSettingChanges(await waitForTable())) {
      await retryUntilRecoveryReady(change);
      await waitForTable();
    }
  }

  async function retryUntilRecoveryReady(change: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await change();
      } catch (error) {
        if ((error as Error).name !== RECOVERY_NOT_READY) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  async function verifyAll(): Promise<void> {
    const verdict = await verify(target);
    report(`${target}: ${verdict.rows} transactions in ${verdict.ledgers} ledgers`);
    if (verdict.unlisted.length > 0) {
      const added = await addToLedgerList(target, verdict.unlisted);
      report(`${added} ledgers of an earlier release were added to the list of ledgers`);
    }
    const faults = describeFaults(verdict, target, stage);
    if (faults.length > 0) {
      throw new UserError(`${faults.join(' ')} Then repeat this command.`);
    }
    const { TableArn = '' } = (await aws.describeTable(target)) ?? {};
    await aws.addTags(TableArn, new Map([[VERIFIED_TAG, 'all ledgers']]));
  }

  async function isVerified(): Promise<boolean> {
    const table = await aws.describeTable(target);
    return table?.TableArn !== undefined && (await aws.readTags(table.TableArn)).has(VERIFIED_TAG);
  }

  return {
    refuseUnrestorableTime,
    isActive,
    restore,
    hasSettings,
    applySettings,
    isVerified,
    verifyAll,
  };
}

/** Stops all functions that may write ledgers before the restore, and allows them to write again after the switch. */
function createWriters(aws: RestorationOptions['aws']) {
  async function findWriters(state: 'running' | 'stopped'): Promise<string[]> {
    const writers: string[] = [];
    for (const name of await aws.listWriters()) {
      const isStopped = await aws.areWritesStopped(name);
      if (isStopped === (state === 'stopped')) writers.push(name);
    }
    return writers;
  }

  // A published version of a function keeps its table name. CloudFormation publishes a version for the new table, but requests
  // may still reach the old one.
  async function refuseOtherTable(name: string, tableInUse: string): Promise<void> {
    const functionTable = await aws.readFunctionTable(name);
    if (functionTable === tableInUse) return;
    throw new UserError(
      `Writes stay stopped: requests to ${name} still reach a version that writes to ${functionTable}, while the stack uses ${tableInUse}. Deploy the stage again, then repeat this command.`,
    );
  }

  return {
    areStopped: async () => (await findWriters('running')).length === 0,
    async stop(): Promise<void> {
      for (const name of await findWriters('running')) await aws.stopWrites(name);
    },
    areAllowed: async () => (await findWriters('stopped')).length === 0,
    async allow(): Promise<void> {
      const { tableInUse } = await aws.readStack();
      const stopped = await findWriters('stopped');
      for (const name of stopped) await refuseOtherTable(name, tableInUse);
      for (const name of stopped) await aws.allowWrites(name);
    },
  };
}

/** Updates the stack so that the stage uses the restored table. */
function createSwitch({ aws, target, sleep }: RestorationOptions) {
  const isSwitched = async () => (await aws.readStack()).tableInUse === target;

  async function isSwitchComplete(): Promise<boolean> {
    const { tableInUse, status } = await aws.readStack();
    return tableInUse === target && status === 'UPDATE_COMPLETE';
  }

  async function switchTable(): Promise<void> {
    if (!(await isSwitched())) await aws.useTable(target);
    for (;;) {
      const { status, tableInUse } = await aws.readStack();
      if (status.endsWith('_IN_PROGRESS')) {
        await sleep(POLL_MS);
        continue;
      }
      if (tableInUse === target && status === 'UPDATE_COMPLETE') return;
      throw new UserError(
        `The stack ${aws.stackName} is ${status} and uses ${tableInUse}. "aws cloudformation describe-stack-events --stack-name ${aws.stackName}" says why; then repeat this command.`,
      );
    }
  }

  return { isSwitched, isSwitchComplete, switchTable };
}

/** Runs the steps that are not yet done, in order. */
export async function runSteps(
  steps: readonly Step[],
  report: (line: string) => void,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const title = `${index + 1}/${steps.length} ${step.title}`;
    if (await step.isDone()) {
      report(`${title}: done`);
      continue;
    }
    report(title);
    await step.run();
  }
}

function describeFaults(
  { ledgers, unbalanced, missing }: TableVerdict,
  target: string,
  stage: string,
): string[] {
  const faults: string[] = [];
  if (unbalanced.length > 0) {
    faults.push(
      `${unbalanced.length} of ${ledgers} ledgers differ from their rows: ${joinFirstIds(unbalanced)}. Repair each with "TABLE_NAME=${target} LEDGER_ID=<ledger> npm run verify-ledger -- --stage ${stage} --repair".`,
    );
  }
  if (missing.length > 0) {
    faults.push(
      `${missing.length} ledgers are only in the list of ledgers: ${joinFirstIds(missing)}. Either their deletion was interrupted, or the table is incomplete. Remove each deleted ledger from the list with "TABLE_NAME=${target} npm run ledger -- --stage ${stage} delete --ledger <ledger>".`,
    );
  }
  return faults;
}

function joinFirstIds(ledgerIds: readonly string[]): string {
  return ledgerIds.slice(0, MAX_LISTED_IDS).join(', ');
}

interface Limits {
  readonly MaxReadRequestUnits?: number | undefined;
  readonly MaxWriteRequestUnits?: number | undefined;
}

function areLimitsEqual(first: Limits, second: Limits | undefined): boolean {
  return (
    first.MaxReadRequestUnits === second?.MaxReadRequestUnits &&
    first.MaxWriteRequestUnits === second?.MaxWriteRequestUnits
  );
}
