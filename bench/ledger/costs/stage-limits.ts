// Reads the limits of a stage from its packaged template: each route's throttle and function, the table's maximum throughput,
// and the number of backups kept.
import * as v from 'valibot';

export interface RouteLimit {
  /** Route key. The trailing slash in the second form of a route is removed. */
  readonly route: string;
  /** Requests per second. Each form of a route has its own limit. */
  readonly rate: number;
  readonly memoryGb: number;
  readonly timeoutSeconds: number;
}

export interface StageLimits {
  readonly routes: readonly RouteLimit[];
  /** Units per second of the table. Each index has the same limits of its own. */
  readonly maxReadUnits: number;
  readonly maxWriteUnits: number;
  readonly indexes: number;
  readonly watchedMetrics: number;
  readonly backups: Backups;
}

/** Numbers of backups, each a copy of the whole table. */
export interface Backups {
  /** Backups kept at the same time. */
  readonly warm: number;
  readonly cold: number;
  /** Backups created in a month. */
  readonly created: number;
}

/** The part of a packaged template that this file reads. */
export interface PackagedTemplate {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: unknown }>
  >;
}

const DAYS_PER_MONTH = 30;

const throttle = v.object({ ThrottlingRateLimit: v.number() });
const stageSchema = v.object({
  DefaultRouteSettings: throttle,
  RouteSettings: v.record(v.string(), throttle),
});
const reference = v.object({ Ref: v.string() });
const routeSchema = v.object({
  RouteKey: v.string(),
  Target: v.object({
    'Fn::Join': v.tuple([v.string(), v.tuple([v.string(), reference])]),
  }),
});
const functionArn = v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) });
/** The gateway refers to a function directly, or to an alias of the function. */
const integrationSchema = v.object({
  IntegrationUri: v.union([
    functionArn,
    v.pipe(
      v.object({ 'Fn::Join': v.tuple([v.string(), v.tuple([functionArn, v.string()])]) }),
      v.transform(({ 'Fn::Join': [, [arn]] }) => arn),
    ),
  ]),
});
const functionSchema = v.object({ MemorySize: v.number(), Timeout: v.number() });
const tableSchema = v.object({
  GlobalSecondaryIndexes: v.array(v.unknown()),
  OnDemandThroughput: v.object({
    MaxReadRequestUnits: v.number(),
    MaxWriteRequestUnits: v.number(),
  }),
});
const planSchema = v.object({
  BackupPlan: v.object({
    BackupPlanRule: v.array(
      v.object({
        ScheduleExpression: v.string(),
        Lifecycle: v.object({
          DeleteAfterDays: v.number(),
          MoveToColdStorageAfterDays: v.optional(v.number()),
        }),
      }),
    ),
  }),
});
const alarmSchema = v.object({ Metrics: v.optional(v.array(v.record(v.string(), v.unknown()))) });

/** @throws Error if the template lacks a part */
export function readStageLimits(template: PackagedTemplate): StageLimits {
  const [settings] = listProperties(template, 'AWS::ApiGatewayV2::Stage', stageSchema);
  const [table] = listProperties(template, 'AWS::DynamoDB::Table', tableSchema);
  if (!settings || !table) throw new Error('The template has no stage or no table');
  const alarms = listProperties(template, 'AWS::CloudWatch::Alarm', alarmSchema);
  const { MaxReadRequestUnits, MaxWriteRequestUnits } = table.OnDemandThroughput;
  return {
    routes: listProperties(template, 'AWS::ApiGatewayV2::Route', routeSchema).map((route) => ({
      route: removeTrailingSlash(route.RouteKey),
      rate: (settings.RouteSettings[route.RouteKey] ?? settings.DefaultRouteSettings)
        .ThrottlingRateLimit,
      ...readFunction(template, route.Target['Fn::Join'][1][1].Ref),
    })),
    maxReadUnits: MaxReadRequestUnits,
    maxWriteUnits: MaxWriteRequestUnits,
    indexes: table.GlobalSecondaryIndexes.length,
    watchedMetrics: alarms
      .map(({ Metrics }) => Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1)
      .reduce((sum, metrics) => sum + metrics, 0),
    backups: countBackups(template),
  };
}

function countBackups(template: PackagedTemplate): Backups {
  const plans = listProperties(template, 'AWS::Backup::BackupPlan', planSchema);
  return plans
    .flatMap(({ BackupPlan }) => BackupPlan.BackupPlanRule)
    .map(({ ScheduleExpression, Lifecycle }) => {
      const days = countDaysBetweenBackups(ScheduleExpression);
      const daysKept = Lifecycle.DeleteAfterDays;
      const daysWarm = Lifecycle.MoveToColdStorageAfterDays ?? daysKept;
      return {
        warm: daysWarm / days,
        cold: (daysKept - daysWarm) / days,
        created: DAYS_PER_MONTH / days,
      };
    })
    .reduce(
      (total, { warm, cold, created }) => ({
        warm: total.warm + warm,
        cold: total.cold + cold,
        created: total.created + created,
      }),
      { warm: 0, cold: 0, created: 0 },
    );
}

/** @throws Error for a schedule that is neither daily nor monthly */
function countDaysBetweenBackups(schedule: string): number {
  const [, day] = /^cron\(\d+ \d+ (\*|\d+) \* \? \*\)$/.exec(schedule) ?? [];
  if (day === undefined) {
    throw new Error(
      `The schedule ${schedule} is neither daily nor monthly: bench/ledger/costs/stage-limits.ts counts no others`,
    );
  }
  return day === '*' ? 1 : DAYS_PER_MONTH;
}

function readFunction(template: PackagedTemplate, integration: string) {
  const { IntegrationUri } = readProperties(template, integration, integrationSchema);
  const name = IntegrationUri['Fn::GetAtt'][0];
  const { MemorySize, Timeout } = readProperties(template, name, functionSchema);
  return { memoryGb: MemorySize / 1_024, timeoutSeconds: Timeout };
}

function removeTrailingSlash(routeKey: string): string {
  return routeKey.endsWith(' /') ? routeKey : routeKey.replace(/\/$/, '');
}

function listProperties<Schema extends v.GenericSchema>(
  { Resources }: PackagedTemplate,
  type: string,
  schema: Schema,
): v.InferOutput<Schema>[] {
  return Object.values(Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => v.parse(schema, Properties));
}

function readProperties<Schema extends v.GenericSchema>(
  { Resources }: PackagedTemplate,
  name: string,
  schema: Schema,
): v.InferOutput<Schema> {
  return v.parse(schema, Resources[name]?.Properties);
}
