// Backups of the table in use, in a vault that none of the roles in docs/ledger/deploy.md can empty. For the reasons, see
// docs/ledger/decisions/0025-locked-backups.md.
import { type Configuration, type Resources, readSection, readText } from '../configuration.ts';
import { allow, type Policy, policy, serviceRole, substitute, TABLE_ARN } from '../roles.ts';
import { TABLE_IN_USE } from '../table.ts';

export const BACKUP_VAULT = { Ref: 'BackupVault' };

/** AWS Backup refuses a backup with a shorter or longer retention than the lock allows. */
export const LOCKED_DAYS = { MinRetentionDays: 7, MaxRetentionDays: 365 };

// Cold storage is billed for at least 90 days.
const MONTHLY = { MoveToColdStorageAfterDays: 30, DeleteAfterDays: LOCKED_DAYS.MaxRetentionDays };

interface Lifecycle {
  readonly DeleteAfterDays: number;
  readonly MoveToColdStorageAfterDays?: number;
}

/** CloudFormation resources; none for a stage without backups. */
export async function backups(configuration: Configuration): Promise<Resources> {
  const days = await readText(configuration, 'param:backupDays');
  if (days === '') return {};
  const copyVault = await readText(configuration, 'param:backupCopyVaultArn');
  const BackupPlanName = await readStageName(configuration);
  const BackupPlanRule = [
    createPlanRule('daily', 'cron(0 3 * * ? *)', { DeleteAfterDays: Number(days) }, copyVault),
    createPlanRule('monthly', 'cron(0 5 1 * ? *)', MONTHLY, copyVault),
  ];
  return {
    BackupVault: await createLockedVault(configuration),
    BackupPlan: {
      Type: 'AWS::Backup::BackupPlan',
      Properties: { BackupPlan: { BackupPlanName, BackupPlanRule } },
    },
    BackupSelection: createSelection(),
    BackupRole: serviceRole('backup.amazonaws.com', createBackupPolicies(copyVault)),
  };
}

/** Name of the vault, which a restore needs. */
export async function backupOutputs(configuration: Configuration): Promise<Resources> {
  if ((await readText(configuration, 'param:backupDays')) === '') return {};
  return { BackupVaultName: { Description: 'Vault with the backups', Value: BACKUP_VAULT } };
}

async function createLockedVault(configuration: Configuration): Promise<object> {
  const name = `${await readStageName(configuration)}-\${Stack}`;
  const lockDays = await readText(configuration, 'param:backupLockDays');
  return {
    Type: 'AWS::Backup::BackupVault',
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      // The vault of a removed stage exists as long as its backups do. Without the stack's id, the name would block the stage's
      // next vault.
      BackupVaultName: { 'Fn::Sub': [name, { Stack: selectEndOfStackId() }] },
      LockConfiguration: {
        ...LOCKED_DAYS,
        ...(lockDays !== '' && { ChangeableForDays: Number(lockDays) }),
      },
    },
  };
}

/** The last 12 characters of the stack's id, which ends in `/<name of the stack>/<UUID>`. */
function selectEndOfStackId(): object {
  const uuid = { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] };
  return { 'Fn::Select': [4, { 'Fn::Split': ['-', uuid] }] };
}

function createPlanRule(
  RuleName: string,
  ScheduleExpression: string,
  Lifecycle: Lifecycle,
  copyVault: string,
): object {
  const copyAction = { DestinationBackupVaultArn: copyVault, Lifecycle };
  return {
    RuleName,
    ScheduleExpression,
    TargetBackupVault: BACKUP_VAULT,
    Lifecycle,
    ...(copyVault !== '' && { CopyActions: [copyAction] }),
  };
}

// The selection is named after the table: a restore changes the table, and CloudFormation creates the new selection before it
// deletes the old one, so their names must differ.
function createSelection(): object {
  return {
    Type: 'AWS::Backup::BackupSelection',
    Properties: {
      BackupPlanId: { Ref: 'BackupPlan' },
      BackupSelection: {
        SelectionName: TABLE_IN_USE,
        IamRoleArn: { 'Fn::GetAtt': ['BackupRole', 'Arn'] },
        Resources: [substitute(TABLE_ARN)],
      },
    },
  };
}

// The part of AWSBackupServiceRolePolicyForBackup that is for tables. The right to delete is left out: AWS Backup itself
// expires the contents of a vault.
function createBackupPolicies(copyVault: string): Policy[] {
  const tableActions = ['DescribeTable', 'ListTagsOfResource', 'StartAwsBackupJob'];
  const actions = tableActions.map((action) => `dynamodb:${action}`);
  const backupArn = `arn:\${AWS::Partition}:backup:\${AWS::Region}:\${AWS::AccountId}:recovery-point:*`;
  return [
    policy('table-backup', [allow(actions, [substitute(TABLE_ARN)])]),
    ...(copyVault === ''
      ? []
      : [
          policy('copy', [
            allow(['backup:CopyFromBackupVault'], [substitute(backupArn)]),
            allow(['backup:CopyIntoBackupVault', 'backup:DescribeBackupVault'], [copyVault]),
          ]),
        ]),
  ];
}

async function readStageName(configuration: Configuration): Promise<string> {
  const service = await readSection<string>(configuration, 'service');
  return `${service}-${await readText(configuration, 'sls:stage')}`;
}
