// Every alarm of the packaged stage fires for its cause and recovers, and notifies. approved/migrating.yml has its metrics.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CAUSES, type Cause } from '../support/alarm-causes.ts';
import {
  type AlarmProperties,
  type Metric,
  metricsOf,
  type Series,
  statesOf,
} from '../support/alarm-states.ts';
import {
  apiFunctionsOf,
  readTemplate,
  resourcesOf,
  theOnly,
} from '../support/packaged-template.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:alarms';

const template = readTemplate('migrating');
const alarms = resourcesOf<AlarmProperties>(template, 'AWS::CloudWatch::Alarm').map(
  ([id, { Properties }]) => [id.replace(/Alarm$/, ''), Properties] as const,
);

const NONE: Cause = { healthy: 0, cause: 0, lasting: 0 };

it('every alarm has its cause in tests/support/alarm-causes.ts', () => {
  expect(alarms.map(([id]) => id).sort()).toEqual(Object.keys(CAUSES).sort());
});

describe.each(alarms)('the alarm %s', (id, alarm) => {
  const { healthy, cause, lasting, traffic, unless } = CAUSES[id] ?? NONE;
  const metrics = metricsOf(alarm);
  const causes = traffic === undefined ? metrics : metrics.slice(0, -1);
  const quiet: Series = Array.from({ length: 15 }, () => healthy);
  const loud = (periods: number): Series => Array.from({ length: periods }, () => cause);
  const sharing = (one: Series, n: number, requests = traffic) => [
    ...causes.map((_, m) => (m === n ? one : one.map(() => healthy))),
    one.map(() => requests),
  ];

  it.each(causes.map((_, n) => n))('fires for metric %i alone, and recovers', (n) => {
    const states = statesOf(alarm, sharing([...quiet, ...loud(lasting), ...quiet], n));
    expect(states.slice(0, quiet.length + lasting - 1)).not.toContain('ALARM');
    expect(states[quiet.length + lasting - 1]).toBe('ALARM');
    expect(states.at(-1)).toBe('OK');
  });

  // The cause of others is silence.
  if (cause !== undefined) {
    it('stays quiet just below its cause', () => {
      const below = loud(lasting).map((value) => (value ?? 0) - 1);
      expect(statesOf(alarm, sharing([...quiet, ...below], 0))).not.toContain('ALARM');
    });
  }

  it('stays quiet when all is well', () => {
    expect(new Set(statesOf(alarm, sharing(quiet, 0)))).toEqual(new Set(['OK']));
  });

  if (unless) {
    it('stays quiet with another traffic', () => {
      const bad = quiet.map(() => unless.value);
      expect(statesOf(alarm, sharing(bad, 0, unless.traffic))).not.toContain('ALARM');
      expect(statesOf(alarm, sharing(bad, 0))).toContain('ALARM');
    });
  }

  it('notifies the topic, of the recovery as well', () => {
    expect(alarm.AlarmActions).toEqual([TOPIC]);
    expect(alarm.OKActions).toEqual([TOPIC]);
  });
});

it('the watchdog that runs every second minute is not called silent', () => {
  const [, silent] = alarms.find(([id]) => id === 'WatchdogSilent') ?? [];
  if (!silent) throw new Error('There is no such alarm');
  const everySecondMinute = Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? 1 : undefined));
  expect(statesOf(silent, [everySecondMinute]).slice(2)).not.toContain('ALARM');
  expect(statesOf(silent, [Array.from({ length: 10 }, () => undefined)]).at(-1)).toBe('ALARM');
});

describe('what an alarm names exists', () => {
  const named = (name: string) =>
    alarms.flatMap(([, alarm]) => metricsOf(alarm)).flatMap((metric) => valuesOf(metric, name));

  it('functions', () => {
    for (const value of named('FunctionName')) {
      const { Ref } = value as { Ref: string };
      expect(template.Resources[Ref]?.Type).toBe('AWS::Lambda::Function');
    }
  });

  it('the table in use and each of its indexes', () => {
    expect(new Set(named('TableName'))).toEqual(new Set(['finance-ledger-prod']));
    const { GlobalSecondaryIndexes } = theOnly<{
      GlobalSecondaryIndexes: { IndexName: string }[];
    }>(template, 'AWS::DynamoDB::Table').Properties;
    const indexes = GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);
    expect(new Set(named('GlobalSecondaryIndexName'))).toEqual(new Set(indexes));
  });

  it('every function behind the gateway is watched for errors, throttles and duration', () => {
    const behindGateway = apiFunctionsOf(template);
    for (const metricName of ['Errors', 'Throttles', 'Duration']) {
      const watched = alarms
        .filter(([id]) => !/^(Watchdog|Canary)/.test(id))
        .flatMap(([, alarm]) => metricsOf(alarm))
        .filter(({ MetricName }) => MetricName === metricName);
      expect(watched).toHaveLength(behindGateway.length);
    }
  });
});

it('the dashboard shows every alarm', () => {
  const { DashboardBody } = theOnly<{ DashboardBody: { 'Fn::Sub': string } }>(
    template,
    'AWS::CloudWatch::Dashboard',
  ).Properties;
  const { widgets } = JSON.parse(DashboardBody['Fn::Sub']);
  const shown = widgets[0].properties.alarms.map((arn: string) => arn.split(':alarm:')[1]);
  expect(shown).toEqual(alarms.map(([, { AlarmName }]) => AlarmName));
  expect(widgets).toHaveLength(1 + alarms.length);
});

function valuesOf({ Dimensions }: Metric, name: string): unknown[] {
  return Dimensions.filter(({ Name }) => Name === name).map(({ Value }) => Value);
}

it('every alarm is documented, and the number of watched metrics, which are billed', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8');
  const watched = alarms.flatMap(([, alarm]) => metricsOf(alarm)).length;
  expect(document).toContain(` ${watched} metrics watched by alarms`);
  for (const [, { AlarmName }] of alarms) {
    expect(document).toContain(`\`${AlarmName.replace(/^finance-ledger-prod-/, '')}\``);
  }
});
