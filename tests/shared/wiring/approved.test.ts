// The packaged stages equal the approved files in approved/, which a person reviews when they change. Roles, routes, permissions,
// gradual releases, log groups and the definition of the state machine have their own tests.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type AlarmProperties, findExpression, listMetrics } from '../support/packaged-alarms.ts';
import { type Packaged, readTemplate } from '../support/packaged-template.ts';

const APPROVED = join(import.meta.dirname, 'approved');
const RECEIVED = join(import.meta.dirname, '../../../.local/received');

const TESTED_ELSEWHERE = [
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::IAM::Role',
  'AWS::Lambda::Alias',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  'AWS::S3::BucketPolicy',
];
/** Properties that change with each packaging, or that other tests (routes, functions, alarms, machine, table) cover. */
const OMITTED_PROPERTIES = new RegExp(
  `^(${[
    ...['Code', 'Handler', 'Role', 'AlarmActions', 'OKActions', 'Dimensions', 'Metrics'],
    ...['Namespace', 'MetricName', 'Statistic', 'ExtendedStatistic', 'Period'],
    ...['DefinitionString', 'AttributeDefinitions', 'KeySchema', 'GlobalSecondaryIndexes'],
    'LogGroupNames',
  ].join('|')})\\b`,
);
/** Values that are shown on one line. */
const SINGLE_LINE = /^(Tags|RouteSettings\.[^.]+|CorsConfiguration\.\w+)$|Fn::GetAtt$/;
/** Values by their paths, such as `Environment.Variables.AUTH`. */
type Leaves = Readonly<Record<string, unknown>>;
type Resources = Readonly<Record<string, Leaves>>;

function flattenLeaves(value: unknown, path = ''): [string, unknown][] {
  const isLeaf = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isLeaf) return [[path, value]];
  if (SINGLE_LINE.test(path)) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([name, part]) =>
    flattenLeaves(part, path === '' ? name : `${path}.${name}`),
  );
}

function readResources(packaged: Packaged): Resources {
  const stage = packaged === 'dev' ? 'dev' : 'prod';
  const text = JSON.stringify(readTemplate(packaged).Resources);
  const resources: ReturnType<typeof readTemplate>['Resources'] = JSON.parse(
    text
      .replaceAll(`finance-ledger-${stage}`, 'finance-ledger-STAGE')
      .replaceAll(`"${stage}"`, '"STAGE"'),
  );
  return Object.fromEntries(
    Object.entries(resources)
      .filter(([, { Type }]) => !TESTED_ELSEWHERE.includes(Type))
      .map(([name, { Properties, ...rest }]) => {
        const leaves = flattenLeaves(Properties).filter(([path]) => !OMITTED_PROPERTIES.test(path));
        const watched = rest.Type === 'AWS::CloudWatch::Alarm' ? describeMetrics(Properties) : {};
        const { DependsOn: _, ...policies } = rest as Leaves;
        const all = { ...policies, ...Object.fromEntries(leaves), ...watched };
        return [name, withoutName(name, all)];
      }),
  );
}

/** Omits the name of a function or an alarm if the logical name implies it. */
function withoutName(logicalName: string, leaves: Leaves): Leaves {
  const words = logicalName.replace(/(LambdaFunction|Alarm)$/, '').split(/(?=[A-Z])/);
  const [first = '', ...others] = words;
  const names = [first.toLowerCase() + others.join(''), words.join('-').toLowerCase()];
  const isNamed = ([path, value]: [string, unknown]) =>
    /^(Function|Alarm)Name$/.test(path) &&
    names.some((name) => value === `finance-ledger-STAGE-${name}`);
  return Object.fromEntries(Object.entries(leaves).filter((leaf) => !isNamed(leaf)));
}

/** Shows each kind of metric once, not for each function: alarms.test.ts counts the functions. */
function describeMetrics(alarm: unknown): Leaves {
  const { Metrics = [], ...properties } = alarm as AlarmProperties;
  const stats = Metrics.flatMap(({ MetricStat }) => MetricStat ?? []);
  const { Statistic, ExtendedStatistic = '', Period = 0 } = properties;
  const ownMetrics = listMetrics(properties).map((Metric) => ({
    Metric,
    Stat: Statistic ?? ExtendedStatistic,
    Period,
  }));
  const kinds = [...ownMetrics, ...stats].map(
    ({ Metric: { Namespace, MetricName, Dimensions }, Stat, Period }) => {
      const names = Dimensions.map(({ Name }) => Name).join(' and ');
      return `${Stat} of ${Namespace} ${MetricName} by ${names} in ${Period} s`;
    },
  );
  return {
    metrics: [...new Set(kinds)].join(', '),
    expression: findExpression(alarm as AlarmProperties),
  };
}

/** Groups resources by type. Values that most resources of a type share are shown once, and so are equal resources. */
function outlineResources(resources: Resources) {
  const types = Map.groupBy(Object.entries(resources), ([, { Type }]) => String(Type));
  return Object.fromEntries(
    [...types].map(([type, members]) => {
      const leaves = members.flatMap(([, each]) => Object.entries(each));
      const isUsual = ([path, value]: [string, unknown]) =>
        members.filter(([, each]) => each[path] === value).length > members.length / 2;
      const usual = Object.fromEntries(members.length > 1 ? leaves.filter(isUsual) : []);
      const groups = Map.groupBy(members, ([, { AlarmDescription, ...each }]) =>
        JSON.stringify(findDifferences(each, { Type: type, ...usual })),
      );
      const { '{}': asUsual = [], ...others } = Object.fromEntries(groups);
      const described = Object.entries(others).map(([text, group]) => {
        const descriptions = group.flatMap(([, { AlarmDescription }]) => AlarmDescription ?? []);
        const names = group.map(([name]) => name).join(', ');
        const [first, ...more] = descriptions;
        return [names, { described: more.length > 0 ? descriptions : first, ...JSON.parse(text) }];
      });
      const common = members.length > 1 ? { usual, asUsual: asUsual.length } : {};
      return [type, { ...common, ...Object.fromEntries(described) }];
    }),
  );
}

function findDifferences(leaves: Leaves, from: Leaves): Leaves {
  const changed = Object.entries(leaves).filter(([path, value]) => from[path] !== value);
  const missing = Object.keys(from).filter((path) => !(path in leaves));
  return Object.fromEntries([...changed, ...missing.map((path) => [path, 'absent'])]);
}

/** Lists the differences from another package. */
function compareResources(resources: Resources, from: Resources) {
  const changed = Object.entries(resources).map(
    ([name, leaves]) => [name, findDifferences(leaves, from[name] ?? {})] as const,
  );
  return {
    without: Object.keys(from).filter((name) => !resources[name]),
    changed: Object.fromEntries(changed.filter(([, leaves]) => Object.keys(leaves).length > 0)),
  };
}

const migrating = readResources('migrating');
const prod = readResources('prod');

it.each([
  ['migrating', outlineResources(migrating)],
  ['prod', compareResources(prod, migrating)],
  ['dev', compareResources(readResources('dev'), prod)],
])('%s is packaged as approved', (name, outline) => {
  const received = JSON.parse(JSON.stringify(outline));
  mkdirSync(RECEIVED, { recursive: true });
  const file = join(RECEIVED, `${name}.yml`);
  writeFileSync(file, stringify(received, { lineWidth: 0 }));
  const approved = parse(readFileSync(join(APPROVED, `${name}.yml`), 'utf8'));
  expect(received, `To approve it: cp ${file} ${APPROVED}/`).toEqual(approved);
});
