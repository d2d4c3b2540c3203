// Alarms, dashboard and budget of a stage as CloudFormation resources.
import table from '../lib/shared/table.json' with { type: 'json' };
import {
  type AlarmDefinition,
  createBackupAlarms,
  createCanaryAlarms,
  createFunctionAlarms,
  createGatewayAlarms,
  createMigrationAlarms,
  createTableAlarms,
  type Metric,
  type WatchedFunction,
} from './alarms.ts';
import {
  type Configuration,
  type Resources,
  readFunctions,
  readSection,
  readText,
} from './configuration.ts';
import { BACKUP_VAULT } from './ledger/backups.ts';
import { CANARY } from './ledger/canary.ts';
import { TABLE_IN_USE } from './table.ts';

/** Properties that all alarms of a stage share. */
interface Context {
  readonly prefix: string;
  /** Topics that are notified of alarms. */
  readonly actions: readonly string[];
  readonly region: string;
}

/** CloudFormation resources; none for a local start. */
export async function monitoring(configuration: Configuration): Promise<Resources> {
  const stage = await readText(configuration, 'sls:stage');
  if (stage === 'local') return {};
  const service = await readSection<string>(configuration, 'service');
  const topic = await readText(configuration, 'param:alarmTopicArn');
  const context = {
    prefix: `${service}-${stage}`,
    actions: topic === '' ? [] : [topic],
    region: await readText(configuration, 'aws:region'),
  };
  const functions = await listWatchedFunctions(configuration);
  const definitions = [
    ...createGatewayAlarms(Number(await readText(configuration, 'param:throttleRate'))),
    ...(functions.some(({ name }) => name === CANARY) ? createCanaryAlarms(CANARY) : []),
    ...createFunctionAlarms(functions),
    ...createTableAlarms(
      TABLE_IN_USE,
      table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName),
    ),
    ...((await readText(configuration, 'param:backupDays')) === ''
      ? []
      : createBackupAlarms(BACKUP_VAULT)),
    ...((await readText(configuration, 'param:qdrantUrl')) === '' ? [] : createMigrationAlarms()),
  ];
  const alarms = definitions.map((definition) => [
    `${definition.id}Alarm`,
    createAlarm(context, definition),
  ]);
  return {
    ...Object.fromEntries(alarms),
    Dashboard: createDashboard(context, definitions),
    ...createBudget(context, await readText(configuration, 'param:monthlyBudgetUsd')),
  };
}

async function listWatchedFunctions(configuration: Configuration): Promise<WatchedFunction[]> {
  const timeout = await readSection<number>(configuration, 'provider', 'timeout');
  return Object.entries(await readFunctions(configuration)).map(([name, settings]) => ({
    name,
    folder: settings.handler.split('/')[1] ?? '',
    timeout: settings.timeout ?? timeout,
  }));
}

function createAlarm({ prefix, actions }: Context, definition: AlarmDefinition): object {
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${prefix}-${toKebabCase(definition.id)}`,
      AlarmDescription: `${definition.description}. See docs/ledger/deploy.md.`,
      ...toMetricProperties(definition),
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

function toMetricProperties({ metrics, expression, statistic, period }: AlarmDefinition): object {
  const [onlyMetric] = metrics;
  if (onlyMetric && metrics.length === 1 && expression === undefined) {
    return {
      ...onlyMetric,
      Dimensions: listDimensions(onlyMetric),
      ...toStatistic(statistic),
      Period: period,
    };
  }
  const metricQueries = metrics.map(({ statistic: metricStatistic, ...metric }, n) => ({
    Id: `m${n + 1}`,
    ReturnData: false,
    MetricStat: {
      Metric: { ...metric, Dimensions: listDimensions(metric) },
      Period: period,
      Stat: metricStatistic ?? statistic,
    },
  }));
  const combinedMetric = {
    Id: 'watched',
    Expression: expression ?? 'SUM(METRICS())',
    ReturnData: true,
  };
  return { Metrics: [combinedMetric, ...metricQueries] };
}

function toStatistic(statistic: string): object {
  return statistic.startsWith('p') ? { ExtendedStatistic: statistic } : { Statistic: statistic };
}

function listDimensions({ Dimensions }: Metric): object[] {
  return Object.entries(Dimensions).map(([Name, Value]) => ({ Name, Value }));
}

// One graph for each alarm, with the alarm's threshold; all alarms at the top.
function createDashboard(
  { prefix, region }: Context,
  definitions: readonly AlarmDefinition[],
): object {
  const toAlarmArn = (id: string) =>
    `arn:\${AWS::Partition}:cloudwatch:\${AWS::Region}:\${AWS::AccountId}:alarm:${prefix}-${toKebabCase(id)}`;
  const alarms = definitions.map(({ id }) => toAlarmArn(id));
  const graphs = definitions.map(({ id }, n) => ({
    type: 'metric',
    width: 8,
    height: 6,
    x: (n % 3) * 8,
    y: 3 + Math.floor(n / 3) * 6,
    properties: { title: toKebabCase(id), region, annotations: { alarms: [toAlarmArn(id)] } },
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

// The budget has no name: a change of the topic replaces the budget, and the replacement would find the name taken. It covers the whole
// account, because a budget for one tag would stay at zero until the tag is activated for billing.
function createBudget({ actions }: Context, limit: string): Resources {
  if (limit === '') return {};
  const createNotification = (NotificationType: string, Threshold: number) => ({
    Notification: { NotificationType, ComparisonOperator: 'GREATER_THAN', Threshold },
    Subscribers: actions.map((Address) => ({ SubscriptionType: 'SNS', Address })),
  });
  return {
    MonthlyBudget: {
      Type: 'AWS::Budgets::Budget',
      Properties: {
        Budget: {
          BudgetType: 'COST',
          TimeUnit: 'MONTHLY',
          BudgetLimit: { Amount: Number(limit), Unit: 'USD' },
        },
        NotificationsWithSubscribers: [
          createNotification('ACTUAL', 80),
          createNotification('FORECASTED', 100),
        ],
      },
    },
  };
}

/** `GatewayErrors` -> `gateway-errors` */
function toKebabCase(id: string): string {
  return id.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}
