// Backups outside the table: the packaged stages' backups, how long they are locked against deletion, and their copies.
import { describe, expect, it } from 'vitest';
import { MIGRATING } from '../../../local/emulator/migrating-parameters.ts';
import { listAlarms, listMetrics } from '../../shared/support/packaged-alarms.ts';
import { getOnlyResource, readTemplate } from '../../shared/support/packaged-template.ts';

// AWS Backup refuses a lifecycle that deletes a backup sooner after the move to cold storage.
const MIN_COLD_DAYS = 90;
const MAX_VAULT_NAME_LENGTH = 50;

interface Lifecycle {
  readonly DeleteAfterDays: number;
  readonly MoveToColdStorageAfterDays?: number;
}

interface Rule {
  readonly RuleName: string;
  readonly ScheduleExpression: string;
  readonly TargetBackupVault: object;
  readonly Lifecycle: Lifecycle;
  readonly CopyActions?: readonly {
    readonly DestinationBackupVaultArn: string;
    readonly Lifecycle: Lifecycle;
  }[];
}

interface Vault {
  readonly BackupVaultName: {
    readonly 'Fn::Sub': readonly [string, { readonly Stack: object }];
  };
  readonly LockConfiguration: {
    readonly MinRetentionDays: number;
    readonly MaxRetentionDays: number;
    readonly ChangeableForDays?: number;
  };
}

function readVault(stage: 'prod' | 'migrating') {
  return getOnlyResource<Vault>(readTemplate(stage), 'AWS::Backup::BackupVault');
}

function readRules(stage: 'prod' | 'migrating'): readonly Rule[] {
  const plan = getOnlyResource<{ BackupPlan: { BackupPlanRule: readonly Rule[] } }>(
    readTemplate(stage),
    'AWS::Backup::BackupPlan',
  );
  return plan.Properties.BackupPlan.BackupPlanRule;
}

it('dev has no backups', () => {
  const { Resources, Outputs } = readTemplate('dev');
  expect(Object.values(Resources).filter(({ Type }) => Type.startsWith('AWS::Backup::'))).toEqual(
    [],
  );
  expect(JSON.stringify([Resources, Outputs])).not.toMatch(/Backup(Vault|Role|Failed|Silent)/);
});

describe.each(['prod', 'migrating'] as const)('the vault of %s', (stage) => {
  it('is kept when the stage is removed or the vault replaced', () => {
    expect(readVault(stage)).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
    });
  });

  it('has a name that no other stack of the stage has', () => {
    const [name, { Stack }] = readVault(stage).Properties.BackupVaultName['Fn::Sub'];
    expect(name).toBe(`finance-ledger-prod-\${Stack}`);
    expect(readEndOfStackId(Stack)).toBe('0242ac120002');
    expect(name.replace(/\$.*/, readEndOfStackId(Stack)).length).toBeLessThan(
      MAX_VAULT_NAME_LENGTH,
    );
  });

  it('is named in the outputs, for a restore', () => {
    expect(readTemplate(stage).Outputs.BackupVaultName).toMatchObject({
      Value: { Ref: 'BackupVault' },
    });
  });

  // AWS Backup fails a job whose backup would be kept for less or more than the lock allows.
  it.each(readRules(stage))(
    'has a lock that allows the retention of the $RuleName backups',
    (rule) => {
      const { MinRetentionDays, MaxRetentionDays } = readVault(stage).Properties.LockConfiguration;
      expect(rule.TargetBackupVault).toEqual({ Ref: 'BackupVault' });
      expect(rule.Lifecycle.DeleteAfterDays).toBeGreaterThanOrEqual(MinRetentionDays);
      expect(rule.Lifecycle.DeleteAfterDays).toBeLessThanOrEqual(MaxRetentionDays);
    },
  );

  it.each(readRules(stage))('keeps the $RuleName backups long enough in cold storage', (rule) => {
    const { DeleteAfterDays, MoveToColdStorageAfterDays } = rule.Lifecycle;
    const coldDays = DeleteAfterDays - (MoveToColdStorageAfterDays ?? DeleteAfterDays);
    expect(coldDays === 0 || coldDays >= MIN_COLD_DAYS).toBe(true);
  });

  it('gets a backup every day, and one every month that is kept for a year', () => {
    expect(
      readRules(stage).map((rule) => [rule.ScheduleExpression, rule.Lifecycle.DeleteAfterDays]),
    ).toEqual([
      ['cron(0 3 * * ? *)', 14],
      ['cron(0 5 1 * ? *)', 365],
    ]);
  });

  it('backs up the table in use, even after a restore', () => {
    const { Properties } = getOnlyResource<{ BackupSelection: object }>(
      readTemplate(stage),
      'AWS::Backup::BackupSelection',
    );
    expect(Properties.BackupSelection).toMatchObject({
      SelectionName: { Ref: 'TableInUse' },
      Resources: [{ 'Fn::Sub': expect.stringMatching(/:table\/\$\{TableInUse\}$/) }],
    });
  });

  it('is watched for failed and for missing backups', () => {
    const backupAlarms = listAlarms(readTemplate(stage)).filter(([id]) => id.startsWith('Backup'));
    expect(backupAlarms.map(([id]) => id)).toEqual(['BackupFailed', 'BackupSilent']);
    for (const { Namespace, Dimensions } of backupAlarms.flatMap(([, alarm]) =>
      listMetrics(alarm),
    )) {
      expect(Namespace).toBe('AWS/Backup');
      expect(Dimensions).toEqual([{ Name: 'BackupVaultName', Value: { Ref: 'BackupVault' } }]);
    }
  });
});

it('an administrator can remove the lock unless the operator sets a date', () => {
  const { ChangeableForDays } = readVault('migrating').Properties.LockConfiguration;
  expect(readVault('prod').Properties.LockConfiguration).not.toHaveProperty('ChangeableForDays');
  expect(ChangeableForDays).toBe(Number(MIGRATING.backupLockDays));
});

it('every backup is copied with its retention if the operator names a vault', () => {
  for (const rule of readRules('prod')) expect(rule).not.toHaveProperty('CopyActions');
  for (const { CopyActions, Lifecycle } of readRules('migrating'))
    expect(CopyActions).toEqual([
      { DestinationBackupVaultArn: MIGRATING.backupCopyVaultArn, Lifecycle },
    ]);
});

/**
 * Evaluates CloudFormation functions for a stack id whose name has dashes, and whose region has more dashes than usual.
 */
function readEndOfStackId(expression: unknown): string {
  const id =
    'arn:aws:cloudformation:us-gov-west-1:111122223333:stack/finance-ledger-prod/6b1f2a30-7c1d-11ef-9a5b-0242ac120002';
  const evaluate = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const [[name, argument] = []] = Object.entries(value);
    if (name === 'Ref') return argument === 'AWS::StackId' ? id : undefined;
    const [first, second] = argument;
    if (name === 'Fn::Split') return String(evaluate(second)).split(first);
    if (name === 'Fn::Select') return (evaluate(second) as readonly string[])[first];
    return undefined;
  };
  return String(evaluate(expression));
}
