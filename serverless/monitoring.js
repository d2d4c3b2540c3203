// Alarms, dashboard and budget of a stage.
// docs/deploy.md says of every alarm what to do when it fires.
import { logicalName } from './logical-name.js';

const MINUTE = 60;
const FIVE_MINUTES = 300;

// CloudWatch takes up to ten metrics in one alarm.
const LARGEST_ALARM = 10;

// A function that takes longer than this share of its timeout is about to be cut off.
const SHARE_OF_TIMEOUT = 0.8;

/** CloudFormation resources; none for a local start. */
export async function monitoring(serverless) {
  const { resolveConfigurationProperty, resolveVariable } = serverless;
  const stage = await resolveVariable('sls:stage');
  if (stage === 'local') return {};
  const service = await resolveConfigurationProperty(['service']);
  const topic = await resolveVariable('param:alarmTopicArn');
  const context = {
    prefix: `${service}-${stage}`,
    actions: topic === '' ? [] : [topic],
    region: await resolveVariable('aws:region'),
  };
  const functions = await functionsOf(serverless);
  const definitions = [
    ...gatewayAlarms(),
    ...functionAlarms(functions),
    ...tableAlarms(await resolveVariable('param:tableName'), await indexesOf(serverless)),
    ...migrationAlarms((await resolveVariable('param:qdrantUrl')) !== ''),
  ];
  const alarms = definitions.map((definition) => [
    `${definition.id}Alarm`,
    alarm(context, definition),
  ]);
  return {
    ...Object.fromEntries(alarms),
    Dashboard: dashboard(context, definitions),
    ...budget(context, await resolveVariable('param:monthlyBudgetUsd')),
  };
}

async function functionsOf({ resolveConfigurationProperty }) {
  const timeout = await resolveConfigurationProperty(['provider', 'timeout']);
  const functions = Object.assign({}, ...(await resolveConfigurationProperty(['functions'])));
  return Object.entries(functions).map(([name, settings]) => ({
    name,
    folder: settings.handler.split('/')[1],
    timeout: settings.timeout ?? timeout,
  }));
}

async function indexesOf({ resolveVariable }) {
  const table = await resolveVariable('file(./lib/store/table.json)');
  return table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);
}

function gatewayAlarms() {
  const metric = (MetricName) => ({
    ...{ Namespace: 'AWS/ApiGateway', MetricName },
    Dimensions: { ApiId: { Ref: 'HttpApi' } },
  });
  return [
    {
      id: 'GatewayErrors',
      says: 'The API answered with 5xx in two of three periods of five minutes',
      metrics: [metric('5xx')],
      ...{ statistic: 'Sum', period: FIVE_MINUTES, threshold: 1, breaching: [2, 3] },
    },
    {
      id: 'GatewayLatency',
      says: 'One request in a hundred takes 3 s or more, in three of five periods of five minutes',
      metrics: [metric('Latency')],
      ...{ statistic: 'p99', period: FIVE_MINUTES, threshold: 3000, breaching: [3, 5] },
    },
  ];
}

// The steps of the migration are left out: they fail by design when they refuse or wait, and work up to their
// timeout. What matters of them fails the execution.
function functionAlarms(functions) {
  const folders = Object.groupBy(functions, ({ folder }) => folder);
  return Object.entries(folders)
    .filter(([folder]) => folder !== 'migration')
    .flatMap(([folder, members]) => slices(members).map((slice, n) => ({ folder, slice, n })))
    .flatMap(({ folder, slice, n }) => {
      const group = `${logicalName(folder)}${n === 0 ? '' : n + 1}`;
      const timeout = Math.min(...slice.map((each) => each.timeout));
      const metrics = (MetricName) => slice.map(({ name }) => functionMetric(name, MetricName));
      return [
        {
          id: `${group}Errors`,
          says: `A function of ${folder} crashed or timed out`,
          metrics: metrics('Errors'),
          ...{ statistic: 'Sum', period: FIVE_MINUTES, threshold: 1, breaching: [1, 1] },
        },
        {
          id: `${group}Throttles`,
          says: `Lambda refused to run a function of ${folder}, in two of three minutes`,
          metrics: metrics('Throttles'),
          ...{ statistic: 'Sum', period: MINUTE, threshold: 1, breaching: [2, 3] },
        },
        {
          id: `${group}Duration`,
          says: `A function of ${folder} took more than ${SHARE_OF_TIMEOUT * timeout} s of its ${timeout} s`,
          ...{ metrics: metrics('Duration'), combine: 'MAX', statistic: 'Maximum' },
          ...{ period: FIVE_MINUTES, threshold: SHARE_OF_TIMEOUT * timeout * 1000 },
          breaching: [1, 1],
        },
      ];
    });
}

function functionMetric(name, MetricName) {
  return {
    ...{ Namespace: 'AWS/Lambda', MetricName },
    Dimensions: { FunctionName: { Ref: `${logicalName(name)}LambdaFunction` } },
  };
}

// The operations that lib/store uses: DynamoDB counts its own errors by operation.
const OPERATIONS = ['GetItem', 'Query', 'UpdateItem', 'TransactWriteItems'];

function tableAlarms(TableName, indexes) {
  const metric = (MetricName, more = {}) => ({
    ...{ Namespace: 'AWS/DynamoDB', MetricName },
    Dimensions: { TableName, ...more },
  });
  const everywhere = (MetricName) => [
    metric(MetricName),
    ...indexes.map((GlobalSecondaryIndexName) => metric(MetricName, { GlobalSecondaryIndexName })),
  ];
  const throttles = (kind) => ({
    id: `Table${kind}Throttles`,
    says: `DynamoDB throttled ${kind.toLowerCase()}s of the table or an index, in two of three minutes`,
    metrics: everywhere(`${kind}ThrottleEvents`),
    ...{ statistic: 'Sum', period: MINUTE, threshold: 1, breaching: [2, 3] },
  });
  return [
    throttles('Read'),
    throttles('Write'),
    {
      id: 'TableConflicts',
      says: 'Many transactions conflict: 20 or more in a minute, in three of five minutes',
      metrics: [metric('TransactionConflict')],
      ...{ statistic: 'Sum', period: MINUTE, threshold: 20, breaching: [3, 5] },
    },
    {
      id: 'TableSystemErrors',
      says: 'DynamoDB failed by itself, in two of three minutes',
      metrics: OPERATIONS.map((Operation) => metric('SystemErrors', { Operation })),
      ...{ statistic: 'Sum', period: MINUTE, threshold: 1, breaching: [2, 3] },
    },
  ];
}

function migrationAlarms(isWatched) {
  const execution = (MetricName) => ({
    ...{ Namespace: 'AWS/States', MetricName },
    Dimensions: { StateMachineArn: { Ref: 'MemoryMigration' } },
  });
  return [
    {
      id: 'ExecutionsFailed',
      says: 'An execution of the migration failed or timed out',
      metrics: [execution('ExecutionsFailed'), execution('ExecutionsTimedOut')],
      ...{ statistic: 'Sum', period: MINUTE, threshold: 1, breaching: [1, 1] },
    },
    {
      id: 'WatchdogFailed',
      says: 'The watchdog of the migration failed; an overdue rollback may be delayed',
      metrics: [functionMetric('migrationRetention', 'Errors')],
      ...{ statistic: 'Sum', period: MINUTE, threshold: 1, breaching: [1, 1] },
    },
    // Created with the schedules: an alarm that is already in ALARM when they are enabled would not notify.
    ...(isWatched ? [silentWatchdog()] : []),
    {
      id: 'WatchdogUndelivered',
      says: 'An invocation of the watchdog failed after all retries; its event is in the queue WatchdogFailures',
      metrics: [
        {
          ...{ Namespace: 'AWS/SQS', MetricName: 'NumberOfMessagesSent' },
          Dimensions: { QueueName: { 'Fn::GetAtt': ['WatchdogFailures', 'QueueName'] } },
        },
      ],
      ...{ statistic: 'Sum', period: FIVE_MINUTES, threshold: 1, breaching: [1, 1] },
    },
  ];
}

function silentWatchdog() {
  return {
    id: 'WatchdogSilent',
    says: 'The watchdog of the migration has not run for ten minutes: a window would stay open',
    metrics: [functionMetric('migrationRetention', 'Invocations')],
    // Minutes without an invocation have no data point; a zero in each makes the ten minutes exact.
    combine: 'FILL',
    ...{ statistic: 'Sum', period: MINUTE, threshold: 1, breaching: [10, 10] },
    ...{ operator: 'LessThanThreshold', missing: 'breaching' },
  };
}

function alarm({ prefix, actions }, definition) {
  const { id, says, threshold, breaching } = definition;
  const { operator = 'GreaterThanOrEqualToThreshold', missing = 'notBreaching' } = definition;
  const [DatapointsToAlarm, EvaluationPeriods] = breaching;
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${prefix}-${kebab(id)}`,
      AlarmDescription: `${says}. See docs/deploy.md.`,
      ...watched(definition),
      ...{ Threshold: threshold, ComparisonOperator: operator, TreatMissingData: missing },
      ...{ DatapointsToAlarm, EvaluationPeriods },
      ...{ ActionsEnabled: true, AlarmActions: actions, OKActions: actions },
    },
  };
}

function watched({ metrics, combine, statistic, period }) {
  const [first] = metrics;
  if (metrics.length === 1 && !combine) {
    const { Namespace, MetricName } = first;
    return {
      Namespace,
      MetricName,
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
      ...{ Period: period, Stat: statistic },
    },
  }));
  const Expression = combine === 'FILL' ? 'FILL(m1, 0)' : `${combine ?? 'SUM'}(METRICS())`;
  return { Metrics: [{ Id: 'watched', Expression, ReturnData: true }, ...parts] };
}

function statisticOf(statistic) {
  return statistic.startsWith('p') ? { ExtendedStatistic: statistic } : { Statistic: statistic };
}

function dimensions({ Dimensions }) {
  return Object.entries(Dimensions).map(([Name, Value]) => ({ Name, Value }));
}

// One graph for each alarm, with the alarm's own line; all alarms at the top.
function dashboard({ prefix, region }, definitions) {
  const arnOfAlarm = (id) =>
    `arn:\${AWS::Partition}:cloudwatch:\${AWS::Region}:\${AWS::AccountId}:alarm:${prefix}-${kebab(id)}`;
  const alarms = definitions.map(({ id }) => arnOfAlarm(id));
  const graphs = definitions.map(({ id }, n) => ({
    ...{ type: 'metric', width: 8, height: 6, x: (n % 3) * 8, y: 3 + Math.floor(n / 3) * 6 },
    properties: { title: kebab(id), region, annotations: { alarms: [arnOfAlarm(id)] } },
  }));
  const status = {
    ...{ type: 'alarm', width: 24, height: 3, x: 0, y: 0 },
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
function budget({ prefix, actions }, limit) {
  if (limit === '') return {};
  const notify = (NotificationType, Threshold) => ({
    Notification: { NotificationType, ComparisonOperator: 'GREATER_THAN', Threshold },
    Subscribers: actions.map((Address) => ({ SubscriptionType: 'SNS', Address })),
  });
  return {
    MonthlyBudget: {
      Type: 'AWS::Budgets::Budget',
      Properties: {
        Budget: {
          ...{ BudgetName: prefix, BudgetType: 'COST', TimeUnit: 'MONTHLY' },
          BudgetLimit: { Amount: Number(limit), Unit: 'USD' },
        },
        NotificationsWithSubscribers: [notify('ACTUAL', 80), notify('FORECASTED', 100)],
      },
    },
  };
}

function slices(members) {
  const count = Math.ceil(members.length / LARGEST_ALARM);
  return Array.from({ length: count }, (_, n) =>
    members.slice(n * LARGEST_ALARM, (n + 1) * LARGEST_ALARM),
  );
}

/** `GatewayErrors` -> `gateway-errors` */
function kebab(id) {
  return id.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}
