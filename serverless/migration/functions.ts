// The deployed migration of the memory backend: functions and roles from the `migrationAccess` entries in serverless.yml, and
// the state machine that drives them. A stage without a store to migrate has none of these, and neither has the local stage.
import {
  type Configuration,
  type FunctionSettings,
  type Resources,
  readSection,
  readText,
  toLogicalName,
} from '../configuration.ts';
import { allow, type Policy, policy, role, serviceRole } from '../roles.ts';
import { migrationMachine } from './machine.ts';
import {
  artifactPolicies,
  type MigrationAccess,
  runPolicies,
  secretPolicies,
  settingPolicies,
} from './policies.ts';
import { SETTINGS } from './settings.ts';

// docs/migration/decisions/0003-copy-memory.md has the reasons for the limits of the heap.
const NODE_OPTIONS = '--enable-source-maps --max-old-space-size=160 --max-semi-space-size=8';

// Status and confirm only read or write the table; every other function works until shortly before Lambda's maximum time.
const QUICK_FUNCTIONS = ['migrationStatus', 'migrationConfirm'];

/** Values are strings, or expressions that CloudFormation fills in. */
type Variables = Readonly<Record<string, unknown>>;

// The watchdog rolls back a window whose deadline has passed, and counts the retention days.
const WATCHDOG = 'migrationRetention';
const RESERVED_FUNCTIONS = [WATCHDOG, 'migrationRollback'];

// An invocation that was retried for longer would overlap with the next one.
const WATCHDOG_RETRIES = {
  maximumRetryAttempts: 2,
  maximumEventAge: 300,
  destinations: { onFailure: { type: 'sqs', arn: { 'Fn::GetAtt': ['WatchdogFailures', 'Arn'] } } },
};

// Rates of the watchdog: once a day for the retention, and every two minutes for a window that must close.
const SCHEDULES = { Daily: 'rate(1 day)', Often: 'rate(2 minutes)' };

/** Functions in the form of serverless.yml, without a route: operators and the state machine invoke them. */
export async function migrationFunctions(
  serverless: Configuration,
): Promise<Record<string, FunctionSettings>> {
  const entries = await readAccessEntries(serverless);
  const environment = entries.length > 0 ? await readEnvironment(serverless) : {};
  const concurrency = await readText(serverless, 'param:reservedConcurrency');
  return Object.fromEntries(
    entries.map(([name, access]) => [
      name,
      {
        handler: `functions/migration/${toFileName(name)}.handler`,
        role: `${toLogicalName(name)}Role`,
        memorySize: 1024,
        timeout: QUICK_FUNCTIONS.includes(name) ? 60 : 900,
        environment: selectVariables(name, access, environment),
        ...(RESERVED_FUNCTIONS.includes(name) &&
          concurrency !== '' && { reservedConcurrency: Number(concurrency) }),
        ...(name === WATCHDOG && WATCHDOG_RETRIES),
      },
    ]),
  );
}

/** The state machine with its own role; the tests execute the same definition. */
export async function migrationStateMachines(serverless: Configuration) {
  const entries = await readAccessEntries(serverless);
  if (entries.length === 0) return { stateMachines: {} };
  const stage = await readText(serverless, 'sls:stage');
  return {
    stateMachines: {
      memoryMigration: {
        id: 'MemoryMigration',
        name: `finance-ledger-${stage}-memory-migration`,
        role: { 'Fn::GetAtt': ['MemoryMigrationRole', 'Arn'] },
        definition: migrationMachine(stage),
        // Inputs and outputs of states stay out of the log: causes of failures may quote names.
        loggingConfig: {
          level: 'ALL',
          includeExecutionData: false,
          destinations: [{ 'Fn::GetAtt': ['MemoryMigrationLogGroup', 'Arn'] }],
        },
      },
    },
  };
}

/** CloudFormation resources: a role for each function, and the role and the log group of the machine. */
export async function migrationRoles(serverless: Configuration): Promise<Resources> {
  const entries = await readAccessEntries(serverless);
  if (entries.length === 0) return {};
  const artifactsUrl = await readText(serverless, 'param:artifactsUrl');
  const parameter = await readText(serverless, 'param:collectionParameter');
  const environment = await readEnvironment(serverless);
  const functionRoles = entries.map(([name, access]) => [
    `${toLogicalName(name)}Role`,
    role(`${toLogicalName(name)}LogGroup`, [
      ...runPolicies(access.runs),
      ...secretPolicies(listSecretParameters(selectVariables(name, access, environment))),
      ...settingPolicies(parameter, access.setting),
      ...artifactPolicies(artifactsUrl, access.artifacts),
      ...(name === WATCHDOG ? [createFailurePolicy()] : []),
    ]),
  ]);
  return {
    ...Object.fromEntries(functionRoles),
    MemoryMigrationRole: createMachineRole(),
    MemoryMigrationLogGroup: await createMachineLogGroup(serverless),
  };
}

/** CloudFormation resources: the schedules of the watchdog, and the queue of abandoned invocations. */
export async function migrationWatchdog(serverless: Configuration): Promise<Resources> {
  const entries = await readAccessEntries(serverless);
  if (entries.length === 0) return {};
  const rates = Object.entries(SCHEDULES).map(([name, rate]) => [`Watchdog${name}`, rate] as const);
  const rules = rates.map(([name, rate]) => createRule(name, rate));
  const names = rates.map(([name]) => name);
  const permissions = names.map((name) => [`${name}Permission`, createPermission(name)]);
  return {
    ...Object.fromEntries(rules),
    ...Object.fromEntries(permissions),
    WatchdogFailures: {
      Type: 'AWS::SQS::Queue',
      Properties: { MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true },
    },
    WatchdogFailuresPolicy: createQueuePolicy(names),
  };
}

function createRule(name: string, ScheduleExpression: string): [string, object] {
  const target = {
    Id: 'watchdog',
    Arn: { 'Fn::GetAtt': [`${toLogicalName(WATCHDOG)}LambdaFunction`, 'Arn'] },
    RetryPolicy: { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 300 },
    DeadLetterConfig: { Arn: { 'Fn::GetAtt': ['WatchdogFailures', 'Arn'] } },
  };
  const Properties = { ScheduleExpression, State: 'ENABLED', Targets: [target] };
  return [name, { Type: 'AWS::Events::Rule', Properties }];
}

function createPermission(ruleName: string): object {
  return {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      FunctionName: { 'Fn::GetAtt': [`${toLogicalName(WATCHDOG)}LambdaFunction`, 'Arn'] },
      Action: 'lambda:InvokeFunction',
      Principal: 'events.amazonaws.com',
      SourceArn: { 'Fn::GetAtt': [ruleName, 'Arn'] },
    },
  };
}

function createQueuePolicy(ruleNames: readonly string[]): object {
  const statement = {
    ...allow(['sqs:SendMessage'], [{ 'Fn::GetAtt': ['WatchdogFailures', 'Arn'] }]),
    Principal: { Service: 'events.amazonaws.com' },
    Condition: {
      ArnEquals: { 'aws:SourceArn': ruleNames.map((name) => ({ 'Fn::GetAtt': [name, 'Arn'] })) },
    },
  };
  return {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: {
      Queues: [{ Ref: 'WatchdogFailures' }],
      PolicyDocument: { Version: '2012-10-17', Statement: [statement] },
    },
  };
}

// Step Functions sets up its log delivery with these actions, which take no resource.
const LOG_DELIVERY = [
  ...['CreateLogDelivery', 'GetLogDelivery', 'UpdateLogDelivery', 'DeleteLogDelivery'],
  ...['ListLogDeliveries', 'PutResourcePolicy', 'DescribeResourcePolicies', 'DescribeLogGroups'],
].map((action) => `logs:${action}`);

function createMachineRole(): object {
  const { States } = migrationMachine('');
  const functionNames = Object.values(States).flatMap(
    ({ Resource }) => Resource?.split('-').at(-1) ?? [],
  );
  const resources = [...new Set<string>(functionNames)].map((name) => ({
    'Fn::GetAtt': [`${toLogicalName(name)}LambdaFunction`, 'Arn'],
  }));
  return serviceRole('states.amazonaws.com', [
    policy('migration-functions', [allow(['lambda:InvokeFunction'], resources)]),
    policy('log-delivery', [allow(LOG_DELIVERY, ['*'])]),
  ]);
}

// Lambda itself sends failed invocations to the queue, in the function's role.
function createFailurePolicy(): Policy {
  const queue = { 'Fn::GetAtt': ['WatchdogFailures', 'Arn'] };
  return policy('failed-invocations', [allow(['sqs:SendMessage'], [queue])]);
}

async function createMachineLogGroup(serverless: Configuration): Promise<object> {
  const stage = await readText(serverless, 'sls:stage');
  return {
    Type: 'AWS::Logs::LogGroup',
    Properties: {
      LogGroupName: `/aws/vendedlogs/states/finance-ledger-${stage}-memory-migration`,
      RetentionInDays: await serverless.resolveVariable('param:logRetentionDays'),
    },
  };
}

async function readAccessEntries(serverless: Configuration): Promise<[string, MigrationAccess][]> {
  if ((await readText(serverless, 'sls:stage')) === 'local') return [];
  if ((await readText(serverless, 'param:qdrantUrl')) === '') return [];
  return Object.entries(await readSection(serverless, 'custom', 'migrationAccess'));
}

/** The variables that lib/migration/settings.ts reads, without empty ones. */
async function readEnvironment(serverless: Configuration): Promise<Variables> {
  const variables: Record<string, unknown> = { NODE_OPTIONS };
  for (const [parameter, variable] of Object.entries(SETTINGS)) {
    variables[variable] = await readText(serverless, `param:${parameter}`);
  }
  variables.COLLECTION_SETTING = `ssm:${variables.COLLECTION_SETTING}`;
  if (variables.ARTIFACTS_URL !== '') {
    variables.ARTIFACTS_BUCKET_OWNER = { Ref: 'AWS::AccountId' };
  }
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

// Services that only some steps reach, with the names of their variables.
const SERVICE_VARIABLES = { graph: /^NEO4J_/, webhook: /^MIGRATION_WEBHOOK_/ };

/** Selects the variables for the services that a function reaches. Status and confirm reach the table alone. */
function selectVariables(
  name: string,
  { reaches = [] }: MigrationAccess,
  environment: Variables,
): Variables {
  if (QUICK_FUNCTIONS.includes(name)) return { NODE_OPTIONS };
  const isReachable = ([variable]: readonly [string, unknown]) =>
    Object.entries(SERVICE_VARIABLES).every(
      ([service, names]) => reaches.includes(service) || !names.test(variable),
    );
  return Object.fromEntries(Object.entries(environment).filter(isReachable));
}

function listSecretParameters(variables: Variables): string[] {
  const parameters = Object.entries(variables).filter(([variable]) =>
    variable.endsWith('_PARAMETER'),
  );
  return parameters.map(([, parameter]) => String(parameter));
}

function toFileName(name: string): string {
  return name.replace(/^migration/, '').toLowerCase();
}
