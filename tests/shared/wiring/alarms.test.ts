// Rules for every alarm. approved/migrating.yml records the metrics, expression and threshold of each alarm.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFunctionAlarms } from '../../../serverless/alarms.ts';
import { findExpression, listAlarms, listMetrics } from '../support/packaged-alarms.ts';
import { getOnlyResource, listApiFunctions, readTemplate } from '../support/packaged-template.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:alarms';

const template = readTemplate('migrating');
const alarms = listAlarms(template);

describe.each(alarms)('the alarm %s', (id, alarm) => {
  it('notifies the topic of failures and recoveries', () => {
    expect(alarm.AlarmActions).toEqual([TOPIC]);
    expect(alarm.OKActions).toEqual([TOPIC]);
  });

  it('watches each of its metrics', () => {
    const names = listMetrics(alarm).map((_, n) => `m${n + 1}`);
    const expression = findExpression(alarm);
    if (expression === undefined) expect(names).toHaveLength(1);
    else if (!expression.includes('METRICS()'))
      expect([...new Set(expression.match(/\bm\d+\b/g))].toSorted()).toEqual(names);
  });

  // An alarm named `...Silent` fires when data stops; for every other alarm, missing data means that all is well.
  it('treats missing data as a failure only if silence is one', () => {
    const reportsSilence = id.endsWith('Silent');
    expect([alarm.TreatMissingData, alarm.ComparisonOperator]).toEqual(
      reportsSilence
        ? ['breaching', 'LessThanThreshold']
        : ['notBreaching', 'GreaterThanOrEqualToThreshold'],
    );
  });
});

describe('the metrics of alarms', () => {
  const listDimensionValues = (name: string) =>
    alarms
      .flatMap(([, alarm]) => listMetrics(alarm))
      .flatMap(({ Dimensions }) => Dimensions.filter(({ Name }) => Name === name))
      .map(({ Value }) => Value);

  it('belong to functions of the template', () => {
    for (const value of listDimensionValues('FunctionName')) {
      const { Ref } = value as { Ref: string };
      expect(template.Resources[Ref]?.Type).toBe('AWS::Lambda::Function');
    }
  });

  it('belong to the table in use and to each of its indexes', () => {
    for (const name of listDimensionValues('TableName'))
      expect(name).toEqual({ Ref: 'TableInUse' });
    const { GlobalSecondaryIndexes } = getOnlyResource<{
      GlobalSecondaryIndexes: { IndexName: string }[];
    }>(template, 'AWS::DynamoDB::Table').Properties;
    const indexes = GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);
    expect(new Set(listDimensionValues('GlobalSecondaryIndexName'))).toEqual(new Set(indexes));
  });

  it('cover errors, throttles and duration of every function behind the gateway', () => {
    const behindGateway = listApiFunctions(template);
    for (const metricName of ['Errors', 'Throttles', 'Duration']) {
      const watched = alarms
        .filter(([id]) => !/^(Watchdog|Canary)/.test(id))
        .flatMap(([, alarm]) => listMetrics(alarm))
        .filter(({ MetricName }) => MetricName === metricName);
      expect(watched).toHaveLength(behindGateway.length);
    }
  });
});

it('if a folder needs two alarms of one kind, the description of each names the functions that it watches', () => {
  const names = Array.from({ length: 11 }, (_, n) => `transactions${n}`);
  const described = createFunctionAlarms(
    names.map((name) => ({ name, folder: 'transactions', timeout: 20 })),
  ).filter(({ id }) => id.endsWith('Errors'));
  expect(described.map(({ id, description }) => [id, description])).toEqual([
    [
      'TransactionsErrors',
      `A function of transactions (${names.slice(0, 10).join(', ')}) crashed or timed out`,
    ],
    ['Transactions2Errors', 'A function of transactions (transactions10) crashed or timed out'],
  ]);
});

it('a budget has no explicit name: CloudFormation replaces it when its topic changes, and a name can be used once', () => {
  const { Budget } = getOnlyResource<{ Budget: object }>(
    template,
    'AWS::Budgets::Budget',
  ).Properties;
  expect(Budget).not.toHaveProperty('BudgetName');
});

it('a flood, refused requests and egress are watched', () => {
  const listWatched = (id: string) =>
    listMetrics(alarms.find(([name]) => name === id)?.[1] as never).map(
      ({ MetricName }) => MetricName,
    );
  expect(listWatched('GatewayTraffic')).toEqual(['Count']);
  expect(listWatched('GatewayRefusals')).toEqual(['4xx', 'Count']);
  expect(listWatched('GatewayEgress')).toEqual(['DataProcessed']);
});

it('the dashboard shows every alarm', () => {
  const { DashboardBody } = getOnlyResource<{ DashboardBody: { 'Fn::Sub': string } }>(
    template,
    'AWS::CloudWatch::Dashboard',
  ).Properties;
  const { widgets } = JSON.parse(DashboardBody['Fn::Sub']);
  const alarmNames = widgets[0].properties.alarms.map((arn: string) => arn.split(':alarm:')[1]);
  expect(alarmNames).toEqual(alarms.map(([, { AlarmName }]) => AlarmName));
  expect(widgets).toHaveLength(1 + alarms.length);
});

it('every alarm is documented', () => {
  const document = readFileSync(
    join(import.meta.dirname, '../../../docs/ledger/deploy.md'),
    'utf8',
  );
  for (const [, { AlarmName }] of alarms) {
    // An alarm covers at most ten functions. The alarm of the next ten, such as `transactions2-errors`, is documented under
    // the name without its number.
    const name = AlarmName.replace(/^finance-ledger-prod-/, '').replace(
      /\d+(?=-(?:errors|throttles|duration)$)/,
      '',
    );
    expect(document).toContain(`\`${name}\``);
  }
});
