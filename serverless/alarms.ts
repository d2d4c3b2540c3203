// The alarms of a stage. docs/ledger/deploy.md says how to respond to each.
import { toLogicalName } from './configuration.ts';

export interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: Readonly<Record<string, unknown>>;
  /** Statistic of this metric, if it differs from the alarm's. */
  readonly statistic?: string;
}

export interface AlarmDefinition {
  /** Id such as `GatewayErrors`, for the alarm `finance-ledger-prod-gateway-errors`. */
  readonly id: string;
  readonly description: string;
  readonly metrics: readonly Metric[];
  /** Metric math over the metrics, which are called `m1`, `m2` ...; if not given, their sum. */
  readonly expression?: string;
  readonly statistic: string;
  /** Length of a period, in seconds. */
  readonly period: number;
  readonly threshold: number;
  readonly datapointsToAlarm: number;
  readonly evaluationPeriods: number;
  readonly comparisonOperator?: string;
  readonly treatMissingData?: string;
}

export interface WatchedFunction {
  readonly name: string;
  readonly folder: string;
  /** Timeout of the function, in seconds. */
  readonly timeout: number;
}

const MINUTE = 60;
const FIVE_MINUTES = 300;
const DAY = 86_400;

// CloudWatch takes up to ten metrics in one alarm.
const MAX_ALARM_METRICS = 10;

// A function that takes longer than this share of its timeout is about to be cut off.
const SHARE_OF_TIMEOUT = 0.8;

// With fewer requests in a period, a single slow or failed one is more than 1 %.
const MIN_TRAFFIC = 100;

// Share of one route's rate that no household exceeds; every request costs money.
const SHARE_OF_RATE = 0.5;

// A gigabyte of responses every five minutes costs 26 USD a day, at 0.09 USD a gigabyte.
const GIGABYTE = 1e9;

/** @param rate requests per second that each route accepts */
export function createGatewayAlarms(rate: number): AlarmDefinition[] {
  const createMetric = (MetricName: string): Metric => ({
    Namespace: 'AWS/ApiGateway',
    MetricName,
    Dimensions: { ApiId: { Ref: 'HttpApi' } },
  });
  const traffic = { ...createMetric('Count'), statistic: 'Sum' };
  return [
    {
      id: 'GatewayErrors',
      description: `The API answered with 5xx in two of three periods of five minutes, each with fewer than ${MIN_TRAFFIC} requests`,
      metrics: [createMetric('5xx'), traffic],
      expression: `IF(FILL(m2, 0) < ${MIN_TRAFFIC}, m1, 0)`,
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: 1,
      datapointsToAlarm: 2,
      evaluationPeriods: 3,
    },
    {
      id: 'GatewayErrorRatio',
      description: `The API answered 1 % of the requests with 5xx in two of three periods of five minutes, each with at least ${MIN_TRAFFIC} requests`,
      metrics: [createMetric('5xx'), traffic],
      expression: `IF(m2 >= ${MIN_TRAFFIC}, 100 * FILL(m1, 0) / m2, 0)`,
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: 1,
      datapointsToAlarm: 2,
      evaluationPeriods: 3,
    },
    {
      id: 'GatewayLatency',
      description: `One request in a hundred takes 3 s or more, in three of five periods of five minutes, each with at least ${MIN_TRAFFIC} requests`,
      metrics: [createMetric('Latency'), traffic],
      expression: `IF(m2 >= ${MIN_TRAFFIC}, m1, 0)`,
      statistic: 'p99',
      period: FIVE_MINUTES,
      threshold: 3000,
      datapointsToAlarm: 3,
      evaluationPeriods: 5,
    },
    {
      id: 'GatewayTraffic',
      description: `The API got more than ${SHARE_OF_RATE * rate} requests a second for a quarter of an hour`,
      metrics: [createMetric('Count')],
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: SHARE_OF_RATE * rate * FIVE_MINUTES,
      datapointsToAlarm: 3,
      evaluationPeriods: 3,
    },
    {
      id: 'GatewayRefusals',
      description: `The API refused half of the requests for a quarter of an hour, in periods with at least ${MIN_TRAFFIC} requests`,
      metrics: [createMetric('4xx'), traffic],
      expression: `IF(m2 >= ${MIN_TRAFFIC}, 100 * FILL(m1, 0) / m2, 0)`,
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: 50,
      datapointsToAlarm: 3,
      evaluationPeriods: 3,
    },
    {
      id: 'GatewayEgress',
      description:
        'The API received and sent more than 1 GB in five minutes, for a quarter of an hour',
      metrics: [createMetric('DataProcessed')],
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: GIGABYTE,
      datapointsToAlarm: 3,
      evaluationPeriods: 3,
    },
  ];
}

/** Creates the alarms of the canary, which uses the service as a client does. */
export function createCanaryAlarms(name: string): AlarmDefinition[] {
  return [
    {
      id: 'CanaryFailed',
      description:
        'The canary failed in two of three periods of five minutes: clients fail, or the table has lost a protection',
      metrics: [createFunctionMetric(name, 'Errors')],
      statistic: 'Sum',
      period: FIVE_MINUTES,
      threshold: 1,
      datapointsToAlarm: 2,
      evaluationPeriods: 3,
    },
    createSilenceAlarm({
      id: 'CanarySilent',
      description: 'The canary has not run for a quarter of an hour',
      metric: createFunctionMetric(name, 'Invocations'),
      period: FIVE_MINUTES,
      periods: 3,
    }),
  ];
}

// Creates the functions' alarms, one group for each folder. The canary has its own alarms. The migration's steps have none: they
// fail by design when they refuse or wait, and may run up to their timeout. A failure that matters also fails the execution,
// which has its own alarm.
export function createFunctionAlarms(functions: readonly WatchedFunction[]): AlarmDefinition[] {
  const folders = Object.groupBy(functions, ({ folder }) => folder);
  return Object.entries(folders)
    .filter(([folder]) => folder !== 'migration' && folder !== 'canary')
    .flatMap(([folder, members = []]) =>
      splitIntoSlices(members).map((slice, n, { length }) => {
        const names = slice.map(({ name }) => name).join(', ');
        return { folder, slice, n, label: length === 1 ? folder : `${folder} (${names})` };
      }),
    )
    .flatMap(({ folder, slice, n, label }) => {
      const idPrefix = `${toLogicalName(folder)}${n === 0 ? '' : n + 1}`;
      const timeout = Math.min(...slice.map((each) => each.timeout));
      const listMetrics = (MetricName: string) =>
        slice.map(({ name }) => createFunctionMetric(name, MetricName));
      return [
        {
          id: `${idPrefix}Errors`,
          description: `A function of ${label} crashed or timed out`,
          metrics: listMetrics('Errors'),
          statistic: 'Sum',
          period: FIVE_MINUTES,
          threshold: 1,
          datapointsToAlarm: 1,
          evaluationPeriods: 1,
        },
        {
          id: `${idPrefix}Throttles`,
          description: `Lambda refused to run a function of ${label}, in two of three minutes`,
          metrics: listMetrics('Throttles'),
          statistic: 'Sum',
          period: MINUTE,
          threshold: 1,
          datapointsToAlarm: 2,
          evaluationPeriods: 3,
        },
        {
          id: `${idPrefix}Duration`,
          description: `A function of ${label} took more than ${SHARE_OF_TIMEOUT * timeout} s of its ${timeout} s`,
          metrics: listMetrics('Duration'),
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

function createFunctionMetric(name: string, MetricName: string): Metric {
  return {
    Namespace: 'AWS/Lambda',
    MetricName,
    Dimensions: { FunctionName: { Ref: `${toLogicalName(name)}LambdaFunction` } },
  };
}

// The operations that lib/ledger/store uses: DynamoDB counts its own errors by operation.
const OPERATIONS = ['GetItem', 'Query', 'UpdateItem', 'TransactWriteItems'];

export function createTableAlarms(
  TableName: unknown,
  indexes: readonly string[],
): AlarmDefinition[] {
  const createMetric = (
    MetricName: string,
    extraDimensions: Readonly<Record<string, string>> = {},
  ): Metric => ({
    Namespace: 'AWS/DynamoDB',
    MetricName,
    Dimensions: { TableName, ...extraDimensions },
  });
  const listTableMetrics = (MetricName: string) => [
    createMetric(MetricName),
    ...indexes.map((GlobalSecondaryIndexName) =>
      createMetric(MetricName, { GlobalSecondaryIndexName }),
    ),
  ];
  const createThrottleAlarm = (kind: 'Read' | 'Write'): AlarmDefinition => ({
    id: `Table${kind}Throttles`,
    description: `DynamoDB throttled ${kind.toLowerCase()}s of the table or an index, in two of three minutes`,
    metrics: listTableMetrics(`${kind}ThrottleEvents`),
    statistic: 'Sum',
    period: MINUTE,
    threshold: 1,
    datapointsToAlarm: 2,
    evaluationPeriods: 3,
  });
  return [
    createThrottleAlarm('Read'),
    createThrottleAlarm('Write'),
    {
      id: 'TableConflicts',
      description: 'Many transactions conflict: 20 or more in a minute, in three of five minutes',
      metrics: [createMetric('TransactionConflict')],
      statistic: 'Sum',
      period: MINUTE,
      threshold: 20,
      datapointsToAlarm: 3,
      evaluationPeriods: 5,
    },
    {
      id: 'TableSystemErrors',
      description: 'DynamoDB had internal errors, in two of three minutes',
      metrics: OPERATIONS.map((Operation) => createMetric('SystemErrors', { Operation })),
      statistic: 'Sum',
      period: MINUTE,
      threshold: 1,
      datapointsToAlarm: 2,
      evaluationPeriods: 3,
    },
  ];
}

const BACKUP_FAILURES = [
  'BackupJobsFailed',
  'BackupJobsExpired',
  'BackupJobsAborted',
  'CopyJobsFailed',
];

// Each alarm stays on for a day, until the next backup: with a shorter period, it would clear as if the failure had been fixed.
export function createBackupAlarms(BackupVaultName: unknown): AlarmDefinition[] {
  const createJobMetric = (outcome: string): Metric => ({
    Namespace: 'AWS/Backup',
    MetricName: `NumberOf${outcome}`,
    Dimensions: { BackupVaultName },
  });
  return [
    {
      id: 'BackupFailed',
      description: 'A backup of the table, or a copy of one, failed or was not begun in time',
      metrics: BACKUP_FAILURES.map(createJobMetric),
      statistic: 'Sum',
      period: DAY,
      threshold: 1,
      datapointsToAlarm: 1,
      evaluationPeriods: 1,
    },
    createSilenceAlarm({
      id: 'BackupSilent',
      description: 'No backup of the table was completed for two days',
      metric: createJobMetric('BackupJobsCompleted'),
      period: DAY,
      periods: 2,
    }),
  ];
}

export function createMigrationAlarms(): AlarmDefinition[] {
  const createExecutionMetric = (MetricName: string): Metric => ({
    Namespace: 'AWS/States',
    MetricName,
    Dimensions: { StateMachineArn: { Ref: 'MemoryMigration' } },
  });
  return [
    {
      id: 'ExecutionsFailed',
      description: 'An execution of the migration failed or timed out',
      metrics: [
        createExecutionMetric('ExecutionsFailed'),
        createExecutionMetric('ExecutionsTimedOut'),
      ],
      statistic: 'Sum',
      period: MINUTE,
      threshold: 1,
      datapointsToAlarm: 1,
      evaluationPeriods: 1,
    },
    {
      id: 'WatchdogFailed',
      description: 'The watchdog of the migration failed; an overdue rollback may be delayed',
      metrics: [createFunctionMetric('migrationRetention', 'Errors')],
      statistic: 'Sum',
      period: MINUTE,
      threshold: 1,
      datapointsToAlarm: 1,
      evaluationPeriods: 1,
    },
    createSilenceAlarm({
      id: 'WatchdogSilent',
      description:
        'The watchdog of the migration has not run for ten minutes: a window would stay open',
      metric: createFunctionMetric('migrationRetention', 'Invocations'),
      period: MINUTE,
      periods: 10,
    }),
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

interface SilenceAlarmOptions {
  readonly id: string;
  readonly description: string;
  /** Counts the event whose absence raises the alarm. */
  readonly metric: Metric;
  readonly period: number;
  readonly periods: number;
}

function createSilenceAlarm({
  id,
  description,
  metric,
  period,
  periods,
}: SilenceAlarmOptions): AlarmDefinition {
  return {
    id,
    description,
    metrics: [metric],
    // Periods in which nothing happens have no data point; a zero in each makes the time exact.
    expression: 'FILL(m1, 0)',
    statistic: 'Sum',
    period,
    threshold: 1,
    datapointsToAlarm: periods,
    evaluationPeriods: periods,
    comparisonOperator: 'LessThanThreshold',
    treatMissingData: 'breaching',
  };
}

function splitIntoSlices(members: readonly WatchedFunction[]): WatchedFunction[][] {
  const count = Math.ceil(members.length / MAX_ALARM_METRICS);
  return Array.from({ length: count }, (_, n) =>
    members.slice(n * MAX_ALARM_METRICS, (n + 1) * MAX_ALARM_METRICS),
  );
}
