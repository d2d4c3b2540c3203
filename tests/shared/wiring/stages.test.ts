// Rules for a whole stage: its functions match the files, its logs expire, and it has no unexpected resources.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import definition from '../../../lib/shared/table.json' with { type: 'json' };
import { listStatements, type RoleProperties } from '../support/granted-access.ts';
import {
  getOnlyResource,
  listApiFunctions,
  listFunctions,
  listResources,
  type Packaged,
  readTemplate,
} from '../support/packaged-template.ts';

const FUNCTIONS = join(import.meta.dirname, '../../../functions');

const LOG_RETENTION_DAYS: readonly (readonly [Packaged, number, gatewayRetentionDays: number])[] = [
  ['dev', 14, 7],
  ['prod', 365, 30],
  ['migrating', 365, 30],
];

describe.each(LOG_RETENTION_DAYS)('stage %s', (packaged, retentionDays, gatewayRetentionDays) => {
  const template = readTemplate(packaged);
  const stage = packaged === 'dev' ? 'dev' : 'prod';
  const logGroups = listResources(template, 'AWS::Logs::LogGroup');
  const machines = listResources(template, 'AWS::StepFunctions::StateMachine');

  it('has a function for each file, and a log group for each function, the machine and the gateway', () => {
    const files = globSync('**/*.ts', { cwd: FUNCTIONS }).map((file) => file.replace(/\.ts$/, ''));
    const deployed = packaged === 'migrating' ? files : files.filter(isApiFile);
    expect(
      listFunctions(template)
        .map(([name]) => name)
        .sort(),
    ).toEqual(deployed.sort());
    const names = logGroups.map(([, { Properties }]) => Properties.LogGroupName);
    const expected = listFunctions(template).map(
      ([, { FunctionName }]) => `/aws/lambda/${FunctionName}`,
    );
    expected.push(`/aws/http-api/finance-ledger-${stage}`);
    expect(names).toEqual(expect.arrayContaining(expected));
    expect(names).toHaveLength(expected.length + machines.length);
  });

  it('queries the logs of all functions behind the gateway in each saved query', () => {
    const groups = listApiFunctions(template).map(([, each]) => `/aws/lambda/${each.FunctionName}`);
    const queries = listResources<{ readonly LogGroupNames: readonly { readonly Ref: string }[] }>(
      template,
      'AWS::Logs::QueryDefinition',
    );
    const groupNames = new Map(
      logGroups.map(([id, { Properties }]) => [id, Properties.LogGroupName]),
    );
    for (const [, { Properties }] of queries)
      expect(Properties.LogGroupNames.map(({ Ref }) => groupNames.get(Ref)).toSorted()).toEqual(
        groups.toSorted(),
      );
  });

  it.each(logGroups)('keeps %s for the expected time', (name, { Properties }) => {
    const days = name === 'HttpApiLogGroup' ? gatewayRetentionDays : retentionDays;
    expect(Properties.RetentionInDays).toBe(days);
  });

  it('creates the routes that have their own throttle before the stage of the gateway', () => {
    const { Properties, ...rest } = getOnlyResource(template, 'AWS::ApiGatewayV2::Stage');
    const { DependsOn } = rest as { readonly DependsOn?: readonly string[] };
    const routes = listResources(template, 'AWS::ApiGatewayV2::Route')
      .filter(([name]) => DependsOn?.includes(name))
      .map(([, route]) => route.Properties.RouteKey);
    expect(routes.sort()).toEqual(Object.keys(Properties.RouteSettings ?? {}).sort());
  });

  it('logs nothing at the gateway whose length a client controls', () => {
    const { Properties } = getOnlyResource<{
      readonly AccessLogSettings: { readonly Format: string };
    }>(template, 'AWS::ApiGatewayV2::Stage');
    const logged = Object.values(JSON.parse(Properties.AccessLogSettings.Format)).map(String);
    expect(logged).toContain('$context.routeKey');
    for (const value of logged) {
      expect(value).not.toMatch(/path|userAgent|queryString|header|authorizer|domain/i);
    }
  });

  it('has the table that lib/shared/table.json defines, like a local start', () => {
    const { Properties } = getOnlyResource(template, 'AWS::DynamoDB::Table');
    const { OnDemandThroughput } = Properties;
    const indexes = definition.GlobalSecondaryIndexes.map((each) => ({
      ...each,
      OnDemandThroughput,
    }));
    expect(Properties).toMatchObject({ ...definition, GlobalSecondaryIndexes: indexes });
  });

  it('traces nothing, and lets no role write traces', () => {
    expect(JSON.stringify(template)).not.toMatch(/"Tracing|xray:/i);
  });

  it('contains nothing of the environment in which it was packaged', () => {
    expect(JSON.stringify(template)).not.toMatch(/left-in-the-shell|Berlin/);
  });

  // A stage without parameters names no key and no bucket, so a statement could end up with an empty list.
  it('has no statement without resources', () => {
    const roles = listResources<RoleProperties>(template, 'AWS::IAM::Role');
    const statements = roles.flatMap(([, { Properties }]) => listStatements(Properties));
    for (const { Resource } of statements) expect(Resource.length).toBeGreaterThan(0);
  });
});

function isApiFile(file: string): boolean {
  return !/^(migration|canary)\//.test(file);
}

it('a DNS record can point at a custom domain if one is named', () => {
  expect(readTemplate('prod').Outputs.DomainTarget).toBeUndefined();
  expect(readTemplate('migrating').Outputs.DomainTarget).toMatchObject({
    Value: { 'Fn::GetAtt': ['ApiDomain', 'RegionalDomainName'] },
  });
});

it('a custom domain is the only address, and the one that commands use', () => {
  const isOff = (stage: 'prod' | 'migrating') =>
    getOnlyResource(readTemplate(stage), 'AWS::ApiGatewayV2::Api').Properties
      .DisableExecuteApiEndpoint;
  expect([isOff('prod'), isOff('migrating')]).toEqual([false, true]);
  expect(readTemplate('migrating').Outputs.HttpApiUrl).toMatchObject({
    Value: 'https://ledger.example',
  });
  expect(readTemplate('prod').Outputs.HttpApiUrl).toMatchObject({
    Value: { 'Fn::Join': expect.anything() },
  });
});
