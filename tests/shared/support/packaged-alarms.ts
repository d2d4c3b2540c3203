// The alarms of a packaged template, and the metrics that they watch.
import { listResources, type Template } from './packaged-template.ts';

export interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
}

export interface AlarmProperties extends Partial<Metric> {
  readonly AlarmName: string;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly ReturnData: boolean;
    readonly Expression?: string;
    readonly MetricStat?: {
      readonly Metric: Metric;
      readonly Period: number;
      readonly Stat: string;
    };
  }[];
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Period?: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
  readonly AlarmActions: readonly string[];
  readonly OKActions: readonly string[];
}

/** Lists alarms by their names in serverless/alarms.ts. */
export function listAlarms(template: Template): [id: string, alarm: AlarmProperties][] {
  return listResources<AlarmProperties>(template, 'AWS::CloudWatch::Alarm').map(
    ([id, { Properties }]) => [id.replace(/Alarm$/, ''), Properties],
  );
}

export function listMetrics(alarm: AlarmProperties): Metric[] {
  const parts = (alarm.Metrics ?? []).flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
  const { Namespace, MetricName, Dimensions } = alarm;
  if (!Namespace || !MetricName || !Dimensions) return parts;
  return [{ Namespace, MetricName, Dimensions }];
}

/** Finds the alarm's metric math, in which its metrics are `m1`, `m2` ... */
export function findExpression({ Metrics = [] }: AlarmProperties): string | undefined {
  return Metrics.find(({ ReturnData }) => ReturnData)?.Expression;
}
