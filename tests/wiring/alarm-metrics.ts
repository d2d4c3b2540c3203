// An alarm of the packaged template, and what it watches.

export interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
}

export interface AlarmProperties extends Partial<Metric> {
  readonly AlarmName: string;
  readonly AlarmActions: readonly string[];
  readonly OKActions: readonly string[];
  readonly Metrics?: readonly {
    readonly ReturnData: boolean;
    readonly Expression?: string;
    readonly MetricStat?: {
      readonly Metric: Metric;
      readonly Period: number;
      readonly Stat: string;
    };
  }[];
}

export function metricsOf(alarm: Partial<AlarmProperties>): Metric[] {
  const { Metrics = [], Namespace, MetricName, Dimensions } = alarm;
  const parts = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
  if (!Namespace || !MetricName || !Dimensions) return parts;
  return [{ Namespace, MetricName, Dimensions }];
}
