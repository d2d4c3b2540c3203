// The packaged stages are those that were approved: files of approved/, which a person reads when they change. Roles, routes,
// permissions, log groups, saved queries and the definition of the state machine have tests of their own.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type AlarmProperties, metricsOf } from '../support/alarm-states.ts';
import { type Packaged, readTemplate } from '../support/packaged-template.ts';

const APPROVED = join(import.meta.dirname, 'approved');
const RECEIVED = join(import.meta.dirname, '../../.local/received');

const TESTED_ELSEWHERE = [
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::CloudWatch::Dashboard',
  'AWS::IAM::Role',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::QueryDefinition',
  'AWS::S3::BucketPolicy',
];
/** Of one packaging, or of the tests of alarms, machine and table. */
const LEFT_OUT = new RegExp(
  `^(${[
    ...['Code', 'Role', 'AlarmActions', 'OKActions', 'Dimensions', 'Metrics'],
    ...['DefinitionString', 'AttributeDefinitions', 'KeySchema', 'GlobalSecondaryIndexes'],
  ].join('|')})\\b`,
);

/** Values by their paths, such as `Environment.Variables.AUTH`. */
type Leaves = Readonly<Record<string, unknown>>;
type Resources = Readonly<Record<string, Leaves>>;

function leavesOf(value: unknown, path = ''): [string, unknown][] {
  const isLeaf = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isLeaf) return [[path, value]];
  return Object.entries(value).flatMap(([name, part]) =>
    leavesOf(part, path === '' ? name : `${path}.${name}`),
  );
}

function resourcesOf(packaged: Packaged): Resources {
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
      .map(([name, { Properties, ...described }]) => {
        const leaves = leavesOf(Properties).filter(([path]) => !LEFT_OUT.test(path));
        const watched = described.Type === 'AWS::CloudWatch::Alarm' ? watchedBy(Properties) : {};
        const { DependsOn: _, ...policies } = described as Leaves;
        return [name, { ...policies, ...Object.fromEntries(leaves), ...watched }];
      }),
  );
}

/** Each kind of metric once: alarms.test.ts counts the functions. */
function watchedBy(alarm: unknown): Leaves {
  const { Metrics = [], ...properties } = alarm as AlarmProperties;
  const stats = Metrics.flatMap(({ MetricStat }) => MetricStat ?? []);
  const kinds = stats.map(
    ({ Metric, Stat, Period }) => `${Stat} of ${Metric.MetricName} in ${Period} s`,
  );
  const metrics = metricsOf(properties).map(({ MetricName }) => MetricName);
  return {
    metrics: [...new Set([...kinds, ...metrics])].join(', '),
    expression: Metrics.find(({ ReturnData }) => ReturnData)?.Expression,
  };
}

/** By type: what most of its resources have is said once. */
function outlineOf(resources: Resources) {
  const types = Map.groupBy(Object.entries(resources), ([, { Type }]) => String(Type));
  return Object.fromEntries(
    [...types].map(([type, members]) => {
      const leaves = members.flatMap(([, each]) => Object.entries(each));
      const isUsual = ([path, value]: [string, unknown]) =>
        members.filter(([, each]) => each[path] === value).length > members.length / 2;
      const usual = Object.fromEntries(members.length === 1 ? [] : leaves.filter(isUsual));
      const own = members.map(([name, each]) => [
        name,
        differences(each, { Type: type, ...usual }),
      ]);
      return [type, { usual, ...Object.fromEntries(own) }];
    }),
  );
}

function differences(leaves: Leaves, from: Leaves): Leaves {
  const changed = Object.entries(leaves).filter(([path, value]) => from[path] !== value);
  const gone = Object.keys(from).filter((path) => !(path in leaves));
  return Object.fromEntries([...changed, ...gone.map((path) => [path, 'absent'])]);
}

/** What differs from stage prod with a migration. */
function deviationOf(resources: Resources, from: Resources) {
  const changed = Object.entries(resources).map(
    ([name, leaves]) => [name, differences(leaves, from[name] ?? {})] as const,
  );
  return {
    without: Object.keys(from).filter((name) => !resources[name]),
    changed: Object.fromEntries(changed.filter(([, leaves]) => Object.keys(leaves).length > 0)),
  };
}

const migrating = resourcesOf('migrating');

it.each([
  ['migrating', outlineOf(migrating)],
  ['prod', deviationOf(resourcesOf('prod'), migrating)],
  ['dev', deviationOf(resourcesOf('dev'), migrating)],
])('%s is packaged as approved', (name, outline) => {
  const received = JSON.parse(JSON.stringify(outline));
  mkdirSync(RECEIVED, { recursive: true });
  const file = join(RECEIVED, `${name}.yml`);
  writeFileSync(file, stringify(received, { lineWidth: 0 }));
  const approved = parse(readFileSync(join(APPROVED, `${name}.yml`), 'utf8'));
  expect(received, `To approve it: cp ${file} ${APPROVED}/`).toEqual(approved);
});
