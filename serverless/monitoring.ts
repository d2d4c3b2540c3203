// Alarms, dashboard and budget of a stage.
// docs/deploy.md says of every alarm what to do when it fires.
import table from '../lib/store/table.json' with { type: 'json' };
import {
  type Configuration,
  functionsOf,
  logicalName,
  type Resources,
  sectionOf,
  textOf,
} from './configuration.ts';

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: Readonly<Record<string, unknown>>;
}

interface AlarmDefinition {
  /** Such as `GatewayErrors`; the alarm is named `finance-ledger-prod-gateway-errors`. */
  readonly id: string;
  readonly description: string;
  readonly metrics: readonly Metric[];
  /** Metric math over the metrics, which are `m1`, `m2` ...; without it, their sum. */
  readonly expression?: string;
  readonly statistic: string;
  /** In seconds. */
  readonly period: number;
  readonly threshold: number;
  readonly datapointsToAlarm: number;
  readonly evaluationPeriods: number;
  readonly comparisonOperator?: string;
  readonly treatMissingData?: string;
}

/** What all alarms of a stage share. */
interface Context {
  readonly prefix: string;
  /** Topics that are notified. */
  readonly actions: readonly string[];
  readonly region: string;
}

const MINUTE = 60;
const FIVE_MINUTES = 300;

// CloudWatch takes up to ten metrics in one alarm.
const LARGEST_ALARM = 10;

// A function that takes longer than this share of its timeout is about to be cut off.
const SHARE_OF_TIMEOUT = 0.8;

/** CloudFormation resources; none for a local start. */
export async function monitoring(configuration: Configuration): Promise<Resources> {
  const stage = await textOf(configuration, 'sls:stage');
  if (stage === 'local') return {};
  const service = await sectionOf<string>(configuration, 'service');
  const topic = await textOf(configuration, 'param:alarmTopicArn');
  const context = {
    prefix: `${service}-${stage}`,
    actions: topic === '' ? [] : [topic],
    region: await textOf(configuration, 'aws:region'),
  };
  const functions = await watchedFunctions(configuration);
  const definitions = [
    ...gatewayAlarms(),
    ...functionAlarms(functions),
    ...tableAlarms(
      await textOf(configuration, 'param:tableName'),
      table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName),
    ),
    ...((await textOf(configuration, 'param:qdrantUrl')) === '' ? [] : migrationAlarms()),
  ];
  const alarms = definitions.map((definition) => [
    `${definition.id}Alarm`,
    alarm(context, definition),
  ]);
  return {
    ...Object.fromEntries(alarms),
    Dashboard: dashboard(context, definitions),
    ...budget(context, await textOf(configuration, 'param:monthlyBudgetUsd')),
  };
}

interface WatchedFunction {
  readonly name: string;
  readonly folder: string;
  /** In seconds. */
  readonly timeout: number;
}

async function watchedFunctions(configuration: Configuration): Promise<WatchedFunction[]> {
  const timeout = await sectionOf<number>(configuration, 'provider', 'timeout');
  return Object.entries(await functionsOf(configuration)).map(([name, settings]) => ({
    name,
    folder: settings.handler.split('/')[1] ?? '',
    timeout: settings.timeout ?? timeout,
  }));
}

function gatewayAlarms(): AlarmDefinition[] {
  const metric = (MetricName: string): Metric => ({
    Namespace: 'AWS/ApiGateway',
    MetricName,
    Dimensions: { ApiId: { Ref: 'HttpApi' } },
  });
  return [
    {
      id: 'GatewayErrors',
      description: 'The API answered with 5xx in two of three periods of five minutes',
      metrics: [metric('5xx')],
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: 1,
      datapointsToAlarm: 2,
      evaluationPeriods: 3,
    },
    {
      id: 'GatewayLatency',
      description:
        'One request in a hundred takes 3 s or more, in three of five periods of five minutes',
      metrics: [metric('Latency')],
      statistic: 'p99',
      period: FIVE_MINUTES,
      threshold: 3000,
      datapointsToAlarm: 3,
      evaluationPeriods: 5,
    },
  ];
}

// The steps of the migration are left out: they fail by design when they refuse or wait, and work up to their
// timeout. What matters of them fails the execution.
function functionAlarms(functions: readonly WatchedFunction[]): AlarmDefinition[] {
  const folders = Object.groupBy(functions, ({ folder }) => folder);
  return Object.entries(folders)
    .filter(([folder]) => folder !== 'migration')
    .flatMap(([folder, members]) => slices(members ?? []).map((slice, n) => ({ folder, slice, n })))
    .flatMap(({ folder, slice, n }) => {
      const group = `${logicalName(folder)}${n === 0 ? '' : n + 1}`;
      const timeout = Math.min(...slice.map((each) => each.timeout));
      const metrics = (MetricName: string) =>
        slice.map(({ name }) => functionMetric(name, MetricName));
      return [
        {
          id: `${group}Errors`,
          description: `A function of ${folder} crashed or timed out`,
          metrics: metrics('Errors'),
          statistic: 'Sum',
          period: FIVE_MINUTES,
          threshold: 1,
          datapointsToAlarm: 1,
          evaluationPeriods: 1,
        },
        {
          id: `${group}Throttles`,
          description: `Lambda refused to run a function of ${folder}, in two of three minutes`,
          metrics: metrics('Throttles'),
          statistic: 'Sum',
          period: MINUTE,
          threshold: 1,
          datapointsToAlarm: 2,
          evaluationPeriods: 3,
        },
        {
          id: `${group}Duration`,
          description: `A function of ${folder} took more than ${SHARE_OF_TIMEOUT * timeout} s of its ${timeout} s`,
          metrics: metrics('Duration'),
          expression: 'MAX(METRICS())',
          statistic: 'Maximum',
          period: FIVE_MINUTES,
          threshold: SHARE_OF_TIMEOUT * timeout * 1000,
          datapointsToAlarm: 1,
          evaluationPeriods: 1,
        },
      ];
    });
}

function functionMetric(name: string, MetricName: string): Metric {
  return {
    Namespace: 'AWS/Lambda',
    MetricName,
    Dimensions: { FunctionName: { Ref: `${logicalName(name)}LambdaFunction` } },
  };
}

// The operations that lib/store uses: DynamoDB counts its own errors by operation.
const OPERATIONS = ['GetItem', 'Query', 'UpdateItem', 'TransactWriteItems'];

function tableAlarms(TableName: string, indexes: readonly string[]): AlarmDefinition[] {
  const metric = (MetricName: string, more: Readonly<Record<string, string>> = {}): Metric => ({
    Namespace: 'AWS/DynamoDB',
    MetricName,
    Dimensions: { TableName, ...more },
  });
  const everywhere = (MetricName: string) => [
    metric(MetricName),
    ...indexes.map((GlobalSecondaryIndexName) => metric(MetricName, { GlobalSecondaryIndexName })),
  ];
  const throttles = (kind: 'Read' | 'Write'): AlarmDefinition => ({
    id: `Table${kind}Throttles`,
    description: `DynamoDB throttled ${kind.toLowerCase()}s of the table or an index, in two of three minutes`,
    metrics: everywhere(`${kind}ThrottleEvents`),
    statistic: 'Sum',
    period: MINUTE,
    threshold: 1,
    datapointsToAlarm: 2,
    evaluationPeriods: 3,
  });
  return [
    throttles('Read'),
    throttles('Write'),
    {
      id: 'TableConflicts',
      description: 'Many transactions conflict: 20 or more in a minute, in three of five minutes',
      metrics: [metric('TransactionConflict')],
      statistic: 'Sum',
      period: MINUTE,
      threshold: 20,
      datapointsToAlarm: 3,
      evaluationPeriods: 5,
    },
    {
      id: 'TableSystemErrors',
      description: 'DynamoDB failed by itself, in two of three minutes',
      metrics: OPERATIONS.map((Operation) => metric('SystemErrors', { Operation })),
      statistic: 'Sum',
      period: MINUTE,
      threshold: 1,
      datapointsToAlarm: 2,
      evaluationPeriods: 3,
    },
  ];
}

function migrationAlarms(): AlarmDefinition[] {
  const execution = (MetricName: string): Metric => ({
    Namespace: 'AWS/States',
    MetricName,
    Dimensions: { StateMachineArn: { Ref: 'MemoryMigration' } },
  });
  return [
    {
      id: 'ExecutionsFailed',
      description: 'An execution of the migration failed or timed out',
      metrics: [execution('ExecutionsFailed'), execution('ExecutionsTimedOut')],
      statistic: 'Sum',
      period: MINUTE,
      threshold: 1,
      datapointsToAlarm: 1,
      evaluationPeriods: 1,
    },
    {
      id: 'WatchdogFailed',
      description: 'The watchdog of the migration failed; an overdue rollback may be delayed',
      metrics: [functionMetric('migrationRetention', 'Errors')],
      statistic: 'Sum',
      period: MINUTE,
      threshold: 1,
      datapointsToAlarm: 1,
      evaluationPeriods: 1,
    },
    silentWatchdog(),
    {
      id: 'WatchdogUndelivered',
      description:
        'An invocation of the watchdog failed after all retries; its event is in the queue WatchdogFailures',
      metrics: [
        {
          Namespace: 'AWS/SQS',
          MetricName: 'NumberOfMessagesSent',
          Dimensions: { QueueName: { 'Fn::GetAtt': ['WatchdogFailures', 'QueueName'] } },
        },
      ],
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: 1,
      datapointsToAlarm: 1,
      evaluationPeriods: 1,
    },
  ];
}

function silentWatchdog(): AlarmDefinition {
  return {
    id: 'WatchdogSilent',
    description:
      'The watchdog of the migration has not run for ten minutes: a window would stay open',
    metrics: [functionMetric('migrationRetention', 'Invocations')],
    // Minutes without an invocation have no data point; a zero in each makes the ten minutes exact.
    expression: 'FILL(m1, 0)',
    statistic: 'Sum',
    period: MINUTE,
    threshold: 1,
    datapointsToAlarm: 10,
    evaluationPeriods: 10,
    comparisonOperator: 'LessThanThreshold',
    treatMissingData: 'breaching',
  };
}

function alarm({ prefix, actions }: Context, definition: AlarmDefinition): object {
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${prefix}-${kebab(definition.id)}`,
      AlarmDescription: `${definition.description}. See docs/deploy.md.`,
      ...watched(definition),
      Threshold: definition.threshold,
      ComparisonOperator: definition.comparisonOperator ?? 'GreaterThanOrEqualToThreshold',
      TreatMissingData: definition.treatMissingData ?? 'notBreaching',
      DatapointsToAlarm: definition.datapointsToAlarm,
      EvaluationPeriods: definition.evaluationPeriods,
      ActionsEnabled: true,
      AlarmActions: actions,
      OKActions: actions,
    },
  };
}

function watched({ metrics, expression, statistic, period }: AlarmDefinition): object {
  const [first] = metrics;
  if (first && metrics.length === 1 && expression === undefined) {
    return {
      ...first,
      Dimensions: dimensions(first),
      ...statisticOf(statistic),
      Period: period,
    };
  }
  const parts = metrics.map((metric, n) => ({
    Id: `m${n + 1}`,
    ReturnData: false,
    MetricStat: {
      Metric: { ...metric, Dimensions: dimensions(metric) },
      Period: period,
      Stat: statistic,
    },
  }));
  const combined = { Id: 'watched', Expression: expression ?? 'SUM(METRICS())', ReturnData: true };
  return { Metrics: [combined, ...parts] };
}

function statisticOf(statistic: string): object {
  return statistic.startsWith('p') ? { ExtendedStatistic: statistic } : { Statistic: statistic };
}

function dimensions({ Dimensions }: Metric): object[] {
  return Object.entries(Dimensions).map(([Name, Value]) => ({ Name, Value }));
}

// One graph for each alarm, with the alarm's own line; all alarms at the top.
function dashboard({ prefix, region }: Context, definitions: readonly AlarmDefinition[]): object {
  const arnOfAlarm = (id: string) =>
    `arn:\${AWS::Partition}:cloudwatch:\${AWS::Region}:\${AWS::AccountId}:alarm:${prefix}-${kebab(id)}`;
  const alarms = definitions.map(({ id }) => arnOfAlarm(id));
  const graphs = definitions.map(({ id }, n) => ({
    type: 'metric',
    width: 8,
    height: 6,
    x: (n % 3) * 8,
    y: 3 + Math.floor(n / 3) * 6,
    properties: { title: kebab(id), region, annotations: { alarms: [arnOfAlarm(id)] } },
  }));
  const status = {
    type: 'alarm',
    width: 24,
    height: 3,
    x: 0,
    y: 0,
    properties: { title: 'Alarms', alarms },
  };
  return {
    Type: 'AWS::CloudWatch::Dashboard',
    Properties: {
      DashboardName: prefix,
      DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets: [status, ...graphs] }) },
    },
  };
}

// Of the whole account: a budget of one tag would stay at zero until somebody activates the tag for billing.
function budget({ prefix, actions }: Context, limit: string): Resources {
  if (limit === '') return {};
  const notify = (NotificationType: string, Threshold: number) => ({
    Notification: { NotificationType, ComparisonOperator: 'GREATER_THAN', Threshold },
    Subscribers: actions.map((Address) => ({ SubscriptionType: 'SNS', Address })),
  });
  return {
    MonthlyBudget: {
      Type: 'AWS::Budgets::Budget',
      Properties: {
        Budget: {
          BudgetName: prefix,
          BudgetType: 'COST',
          TimeUnit: 'MONTHLY',
          BudgetLimit: { Amount: Number(limit), Unit: 'USD' },
        },
        NotificationsWithSubscribers: [notify('ACTUAL', 80), notify('FORECASTED', 100)],
      },
    },
  };
}

function slices(members: readonly WatchedFunction[]): WatchedFunction[][] {
  const count = Math.ceil(members.length / LARGEST_ALARM);
  return Array.from({ length: count }, (_, n) =>
    members.slice(n * LARGEST_ALARM, (n + 1) * LARGEST_ALARM),
  );
}

/** `GatewayErrors` -> `gateway-errors` */
function kebab(id: string): string {
  return id.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}
