// Lists the access that the roles of the packaged template grant, and the access that AWS itself needs. Each line is an action
// and a resource, such as `dynamodb:GetItem table of ledgers`. recorded-access.ts records the access in use in the same form.
import {
  type FunctionProperties,
  getOnlyResource,
  listResources,
  type Resource,
  type Template,
  toEntryPoint,
} from './packaged-template.ts';

export const STATE_MACHINE = 'state machine';
export const BACKUP_PLAN = 'backup plan';
export const GRADUAL_RELEASE = 'gradual release';

export interface Statement {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: readonly unknown[];
  readonly Condition?: unknown;
}

export interface RoleProperties {
  readonly AssumeRolePolicyDocument: unknown;
  readonly ManagedPolicyArns?: readonly unknown[];
  readonly PermissionsBoundary: unknown;
  readonly Policies: readonly {
    readonly PolicyName: string;
    readonly PolicyDocument: { readonly Statement: readonly Statement[] };
  }[];
}

interface BackupSelection {
  readonly BackupSelection: { readonly IamRoleArn: unknown };
}

/** Pairs each user of a role (a function's entry point, the state machine, the backup plan or CodeDeploy) with the role's name. */
export function listRoles(template: Template): [user: string, role: string][] {
  const functions = listResources<FunctionProperties>(template, 'AWS::Lambda::Function').map(
    ([, { Properties }]) => [toEntryPoint(Properties.Handler), Properties.Role] as const,
  );
  const machines = listResources(template, 'AWS::StepFunctions::StateMachine').map(
    ([, { Properties }]) => [STATE_MACHINE, Properties.RoleArn] as const,
  );
  const backups = listResources<BackupSelection>(template, 'AWS::Backup::BackupSelection').map(
    ([, { Properties }]) => [BACKUP_PLAN, Properties.BackupSelection.IamRoleArn] as const,
  );
  const [release] = listResources(template, 'AWS::CodeDeploy::DeploymentGroup').map(
    ([, { Properties }]) => [GRADUAL_RELEASE, Properties.ServiceRoleArn] as const,
  );
  const releases = release ? [release] : [];
  return [...functions, ...machines, ...backups, ...releases].map(([user, role]) => {
    return [user, (role as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'][0]];
  });
}

export function findRole(template: Template, user: string): RoleProperties {
  const [, name = ''] = listRoles(template).find(([each]) => each === user) ?? [];
  return (template.Resources[name] as Resource<RoleProperties>).Properties;
}

export function listStatements(role: RoleProperties): Statement[] {
  return role.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

/** Lists the access that a role grants. A statement in an unknown form is kept verbatim, so it shows up as unused. */
export function listGrantedAccess(template: Template, role: RoleProperties): string[] {
  return listStatements(role).flatMap((statement) =>
    statement.Action.flatMap((action) =>
      statement.Resource.map(
        (resource) =>
          `${action} ${describeResource(template, resource)}${describeCondition(statement)}${describeEffect(statement)}`,
      ),
    ),
  );
}

// Names of the records that a statement is limited to by keys: the table holds ledgers, their list, API keys and the records
// of migrations.
const CONDITIONS: Readonly<Record<string, string>> = {
  [leadingKeys('StringNotLike', '@*')]: ' of ledgers',
  [leadingKeys('StringLike', '@API_KEYS#*')]: ' of API keys',
  [leadingKeys('StringEquals', '@LEDGERS')]: ' of the list of ledgers',
  [leadingKeys('StringEquals', 'HEALTH')]: ' of the health check',
  [leadingKeys('StringLike', '@migration', '@migration#*')]: ' of runs',
  // A bucket with the same name could belong to another account.
  '{"StringEquals":{"aws:ResourceAccount":{"Ref":"AWS::AccountId"}}}': ' of this account',
};

function leadingKeys(operator: string, ...keys: string[]): string {
  return JSON.stringify({ [`ForAllValues:${operator}`]: { 'dynamodb:LeadingKeys': keys } });
}

function describeCondition({ Condition }: Statement): string {
  if (Condition === undefined) return '';
  const text = JSON.stringify(Condition);
  return CONDITIONS[text] ?? text;
}

function describeEffect({ Effect }: Statement): string {
  return Effect === 'Allow' ? '' : ` ${Effect}`;
}

/** `arn:...:table/finance-ledger-prod/index/all-by-date` -> `index all-by-date`, without the names of the stage. */
function describeResource(template: Template, resource: unknown): string {
  const { 'Fn::Sub': arn, 'Fn::GetAtt': attribute } = resource as {
    readonly 'Fn::Sub'?: string;
    readonly 'Fn::GetAtt'?: readonly string[];
  };
  if (attribute) return attribute[1] === 'Arn' ? `${attribute[0]}` : attribute.join('.');
  const place = (arn ?? JSON.stringify(resource))
    .replace('arn:$' + '{AWS::Partition}:', '')
    .replace('$' + '{AWS::Region}:$' + '{AWS::AccountId}:', '');
  const [name, meaning] = listNames(template).find(([each]) => place.startsWith(each)) ?? ['', ''];
  return meaning + place.slice(name.length);
}

function listNames(template: Template): [name: string, meaning: string][] {
  const variables: Record<string, string> = Object.assign(
    {},
    ...listResources<FunctionProperties>(template, 'AWS::Lambda::Function').map(
      ([, { Properties }]) => Properties.Environment.Variables,
    ),
  );
  const artifacts = variables.ARTIFACTS_URL?.replace('s3://', 's3:::');
  return [
    ['dynamodb:table/$' + '{TableInUse}/index/', 'index '],
    ['dynamodb:table/$' + '{TableInUse}', 'table'],
    [`${variables.COLLECTION_SETTING}`.replace('ssm:', 'ssm:parameter'), 'setting'],
    ...(artifacts
      ? ([
          [artifacts, 'artifacts'],
          [artifacts.replace(/\/.*/, ''), 'bucket'],
        ] satisfies [string, string][])
      : []),
  ];
}

// From the Step Functions guide on log delivery. These actions do not support resource-level permissions.
const LOG_DELIVERY = [
  ...['CreateLogDelivery', 'GetLogDelivery', 'UpdateLogDelivery', 'DeleteLogDelivery'],
  ...['ListLogDeliveries', 'PutResourcePolicy', 'DescribeResourcePolicies', 'DescribeLogGroups'],
].map((action) => `logs:${action} "*"`);

// From the policy AWSBackupServiceRolePolicyForBackup and the guide on advanced backups of DynamoDB.
const TABLE_BACKUP = ['DescribeTable', 'ListTagsOfResource', 'StartAwsBackupJob'].map(
  (action) => `dynamodb:${action} table`,
);

interface BackupPlan {
  readonly BackupPlan: {
    readonly BackupPlanRule: readonly {
      readonly CopyActions?: readonly { readonly DestinationBackupVaultArn: string }[];
    }[];
  };
}

function listAccessNeededByBackups(template: Template): string[] {
  const { BackupPlanRule } = getOnlyResource<BackupPlan>(template, 'AWS::Backup::BackupPlan')
    .Properties.BackupPlan;
  const copies = BackupPlanRule.flatMap(({ CopyActions = [] }) => CopyActions);
  const vaults = new Set(copies.map((copy) => JSON.stringify(copy.DestinationBackupVaultArn)));
  const writes = [...vaults].flatMap((vault) => [
    `backup:CopyIntoBackupVault ${vault}`,
    `backup:DescribeBackupVault ${vault}`,
  ]);
  const reads = vaults.size > 0 ? ['backup:CopyFromBackupVault backup:recovery-point:*'] : [];
  return [...TABLE_BACKUP, ...reads, ...writes];
}

// From the policy AWSCodeDeployRoleForLambda, without hooks and notifications.
function listAccessNeededByReleases(template: Template): string[] {
  const aliases = listResources<{ FunctionName: { Ref: string } }>(template, 'AWS::Lambda::Alias');
  const places = aliases.flatMap(([, { Properties }]) => {
    const { Ref: id } = Properties.FunctionName;
    return [id, `\${${id}.Arn}:*`];
  });
  const actions = ['GetAlias', 'UpdateAlias', 'GetProvisionedConcurrencyConfig'];
  return [
    ...places.flatMap((place) => actions.map((action) => `lambda:${action} ${place}`)),
    'cloudwatch:DescribeAlarms "*"',
  ];
}

/** Lists the calls that AWS services make in a role, according to the configuration of the function, machine or plan. */
export function listAccessNeededByAws(template: Template, user: string): string[] {
  const functions = listResources<FunctionProperties>(template, 'AWS::Lambda::Function');
  if (user === BACKUP_PLAN) return listAccessNeededByBackups(template);
  if (user === GRADUAL_RELEASE) return listAccessNeededByReleases(template);
  if (user === STATE_MACHINE) {
    const invoked = functions.filter(([, { Properties }]) =>
      readDefinition(template).includes(`:function:${Properties.FunctionName}"`),
    );
    return [...invoked.map(([id]) => `lambda:InvokeFunction ${id}`), ...LOG_DELIVERY];
  }
  const [id = ''] =
    functions.find(([, { Properties }]) => toEntryPoint(Properties.Handler) === user) ?? [];
  const group = id.replace(/LambdaFunction$/, 'LogGroup');
  // Lambda sends the event of a failed watchdog to this queue.
  const queue = user === 'migration/retention' ? ['sqs:SendMessage WatchdogFailures'] : [];
  return [`logs:CreateLogStream ${group}`, `logs:PutLogEvents ${group}`, ...queue];
}

function readDefinition(template: Template): string {
  const { DefinitionString } = getOnlyResource<{
    readonly DefinitionString: { 'Fn::Sub': string };
  }>(template, 'AWS::StepFunctions::StateMachine').Properties;
  return DefinitionString['Fn::Sub'];
}
