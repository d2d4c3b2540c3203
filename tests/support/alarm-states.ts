// The states of an alarm as CloudWatch's documentation defines them, for a series of data points: M of N and missing data.

export type State = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

interface Dimension {
  readonly Name: string;
  readonly Value: unknown;
}

export interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly Dimension[];
}

export interface AlarmProperties extends Partial<Metric> {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
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
  readonly Threshold: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: 'notBreaching' | 'breaching' | 'ignore' | 'missing';
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly ActionsEnabled: boolean;
  readonly AlarmActions: readonly string[];
  readonly OKActions: readonly string[];
}

/** One data point for each period; undefined where there is none. */
export type Series = readonly (number | undefined)[];

export function metricsOf(alarm: AlarmProperties): Metric[] {
  const parts = (alarm.Metrics ?? []).flatMap(({ MetricStat }) =>
    MetricStat ? [MetricStat.Metric] : [],
  );
  const { Namespace, MetricName, Dimensions } = alarm;
  if (!Namespace || !MetricName || !Dimensions) return parts;
  return [{ Namespace, MetricName, Dimensions }];
}

/**
 * The state after each period.
 * @param series of the alarm's metrics, in their order
 */
export function statesOf(alarm: AlarmProperties, series: readonly Series[]): State[] {
  const combined = combine(expressionOf(alarm), series);
  return combined.map((_, n) =>
    stateOf(alarm, combined.slice(Math.max(0, n + 1 - alarm.EvaluationPeriods), n + 1)),
  );
}

function stateOf(alarm: AlarmProperties, window: Series): State {
  const missing = alarm.TreatMissingData;
  if (missing !== 'breaching' && missing !== 'notBreaching') {
    throw new Error(`No alarm of ours treats missing data as ${missing}`);
  }
  const before = alarm.EvaluationPeriods - window.length;
  const breaching = window.filter((value) =>
    value === undefined ? missing === 'breaching' : isBreaching(alarm, value),
  ).length;
  const unseen = missing === 'breaching' ? before : 0;
  return breaching + unseen >= alarm.DatapointsToAlarm ? 'ALARM' : 'OK';
}

function isBreaching({ ComparisonOperator, Threshold }: AlarmProperties, value: number): boolean {
  if (ComparisonOperator === 'GreaterThanOrEqualToThreshold') return value >= Threshold;
  if (ComparisonOperator === 'LessThanThreshold') return value < Threshold;
  throw new Error(`No alarm of ours compares by ${ComparisonOperator}`);
}

function expressionOf({ Metrics = [] }: AlarmProperties): string | undefined {
  return Metrics.find(({ ReturnData }) => ReturnData)?.Expression;
}

function combine(expression: string | undefined, series: readonly Series[]): Series {
  const [first = []] = series;
  if (expression === undefined) return first;
  return first.map((_, n) => {
    const metrics = series.map((each) => each[n]);
    return evaluate(expression, metrics);
  });
}

const present = (values: Series) => values.filter((value) => value !== undefined);

const FUNCTIONS = {
  FILL: (value: number | undefined, filling: number) => value ?? filling,
  IF: (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise),
  SUM: (values: Series) =>
    present(values).reduce<number | undefined>((sum = 0, value) => sum + value, undefined),
  MAX: (values: Series) => present(values).toSorted((one, other) => other - one)[0],
};

/** Metric math at one point of time: as far as our alarms use it, it reads as JavaScript. */
function evaluate(expression: string, metrics: Series): number | undefined {
  const names = metrics.map((_, n) => `m${n + 1}`);
  // No data point comes of one that is missing, unless that is filled.
  const needed = expression.replaceAll(/FILL\(m\d+,/g, '').match(/\bm\d+\b/g) ?? [];
  const isMissing = needed.some((name) => metrics[names.indexOf(name)] === undefined);
  if (isMissing) return undefined;
  const known = { ...FUNCTIONS, METRICS: () => metrics };
  const compute = new Function(...Object.keys(known), ...names, `return ${expression}`);
  return compute(...Object.values(known), ...metrics);
}
