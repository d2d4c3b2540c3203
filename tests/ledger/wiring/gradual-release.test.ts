// The gradual release of a function's new version: the functions that have an alias, the deployment that moves the alias to the
// version, and the alarms that stop the move.
import { describe, expect, it } from 'vitest';
import { createRollbackConfiguration, NO_ROLLBACK } from '../../../serverless/deploy-rollback.ts';
import { GradualRelease } from '../../../serverless/ledger/gradual-release.ts';
import {
  type FunctionProperties,
  listApiFunctions,
  listResources,
  type Packaged,
  type Resource,
  readTemplate,
} from '../../shared/support/packaged-template.ts';

/** CloudFormation allows 500 resources. A new function adds seven resources, and a route in both forms adds two. */
const MAX_RESOURCES = 400;
/** CloudFormation allows a template of one megabyte. */
const MAX_TEMPLATE_BYTES = 800_000;
/**
 * Maximum number of resources of one type that start together: CloudFormation starts every resource that does not wait for
 * another. A release makes several changes in Lambda, which allows an account 15 changes a second.
 */
const MAX_STARTED_TOGETHER = 5;
const PACKAGES: readonly Packaged[] = ['dev', 'prod', 'migrating'];

interface Alias {
  readonly Name: string;
  readonly FunctionName: { readonly Ref: string };
  readonly FunctionVersion: { readonly 'Fn::GetAtt': readonly [string, string] };
}

interface Version {
  readonly FunctionName: { readonly Ref: string };
  readonly Description: object;
}

interface DeploymentGroup {
  readonly AlarmConfiguration: {
    readonly Enabled: boolean;
    readonly Alarms: readonly { readonly Name: { readonly Ref: string } }[];
  };
  readonly AutoRollbackConfiguration: { readonly Enabled: boolean; readonly Events: string[] };
}

describe.each(PACKAGES)('in stage %s', (stage) => {
  const template = readTemplate(stage);
  const aliases = listResources<Alias>(template, 'AWS::Lambda::Alias');
  const groups = listResources<DeploymentGroup>(template, 'AWS::CodeDeploy::DeploymentGroup');
  const functions = listResources<FunctionProperties>(template, 'AWS::Lambda::Function');
  const releasedIds = listApiFunctions(template)
    .map(
      ([, { Handler }]) => functions.find(([, each]) => each.Properties.Handler === Handler)?.[0],
    )
    .filter((id) => id !== 'FrontPageLambdaFunction');
  const resource = <Properties>(id: string) => template.Resources[id] as Resource<Properties>;

  it('each function of the API has an alias; the page, whose parts belong together, has none', () => {
    expect(releasedIds.length).toBeGreaterThan(20);
    expect(aliases.map(([, { Properties }]) => Properties.FunctionName.Ref)).toEqual(releasedIds);
  });

  it('the gateway invokes functions only by alias, and has the permission', () => {
    const targets = functions.map(([id]) => {
      const arn = { 'Fn::GetAtt': [id, 'Arn'] };
      return releasedIds.includes(id) ? { 'Fn::Join': [':', [arn, 'live']] } : arn;
    });
    for (const { Properties } of aliases.map(([, alias]) => alias)) {
      expect(Properties.Name).toBe('live');
    }
    const usedUris = listResources(template, 'AWS::ApiGatewayV2::Integration').map(
      ([, { Properties }]) => Properties.IntegrationUri,
    );
    const invocable = listResources(template, 'AWS::Lambda::Permission').map(
      ([, { Properties }]) => Properties.FunctionName,
    );
    const behindGateway = targets.filter((target) =>
      usedUris.some((uri) => JSON.stringify(uri) === JSON.stringify(target)),
    );
    expect(usedUris).toEqual(expect.arrayContaining(behindGateway));
    expect(behindGateway).toHaveLength(usedUris.length);
    expect(invocable).toEqual(expect.arrayContaining(behindGateway));
  });

  it('the gateway gets the permission to invoke an alias before it uses the alias', () => {
    const integrations = listResources<{ readonly IntegrationUri: object }>(
      template,
      'AWS::ApiGatewayV2::Integration',
    ).filter(([, { Properties }]) => JSON.stringify(Properties.IntegrationUri).includes('"live"'));
    expect(integrations).toHaveLength(aliases.length);
    for (const [, integration] of integrations) {
      const { IntegrationUri } = integration.Properties;
      const permission = listResources(template, 'AWS::Lambda::Permission').find(
        ([, { Properties }]) =>
          Properties.Principal === 'apigateway.amazonaws.com' &&
          JSON.stringify(Properties.FunctionName) === JSON.stringify(IntegrationUri),
      );
      expect(integration.DependsOn).toContain(permission?.[0]);
    }
  });

  it.each(aliases)(
    '%s points to a version of its function whose description names the table in use',
    (_, alias) => {
      const [id, attribute] = alias.Properties.FunctionVersion['Fn::GetAtt'];
      const version = resource<Version>(id);
      expect([version.Type, attribute]).toEqual(['AWS::Lambda::Version', 'Version']);
      expect(version.Properties.FunctionName).toEqual(alias.Properties.FunctionName);
      // A changed description makes a new version. A restore changes only the table, so without the table's name in the description
      // the alias would keep a version that works on the damaged table.
      expect(version.Properties.Description).toEqual({
        'Fn::Sub': expect.stringContaining('$' + '{TableInUse}'),
      });
      // A deployment that is rolled back must delete its version: if the version were kept, the next attempt would fail.
      expect(version.DeletionPolicy).toBeUndefined();
    },
  );

  it.each(aliases)(
    '%s is moved by its own deployment group in a gradual release, and at once otherwise',
    (id, alias) => {
      const [condition, gradual, otherwise] = (
        alias as unknown as { UpdatePolicy: { 'Fn::If': [string, object, object] } }
      ).UpdatePolicy['Fn::If'];
      const group = id.replace(/Alias$/, 'Release');
      expect(groups.map(([name]) => name)).toContain(group);
      expect(gradual).toEqual({
        CodeDeployLambdaAliasUpdate: {
          ApplicationName: { Ref: 'GradualRelease' },
          DeploymentGroupName: { Ref: group },
        },
      });
      expect(otherwise).toEqual({ Ref: 'AWS::NoValue' });
      const { Parameters, Conditions } = template as unknown as Record<
        string,
        Record<string, object>
      >;
      expect(Conditions?.[condition]).toEqual({ 'Fn::Equals': [{ Ref: 'Release' }, 'gradual'] });
      // A restore changes the stack without the parameter, and must not wait for alarms that fire while writes are stopped.
      expect(Parameters?.Release).toMatchObject({ Default: 'at once' });
    },
  );

  it('the new version first gets a tenth of the requests, for as long as the slowest alarm needs', () => {
    expect(groups).toHaveLength(aliases.length);
    for (const [, { Properties }] of groups) {
      expect(Properties).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent15Minutes',
        DeploymentStyle: {
          DeploymentType: 'BLUE_GREEN',
          DeploymentOption: 'WITH_TRAFFIC_CONTROL',
        },
      });
    }
  });

  it('the alarms that roll back a deployment also stop and revert a gradual release', () => {
    const { RollbackTriggers } = createRollbackConfiguration({
      deployed: template,
      next: template,
      minutes: 15,
      toArn: (name) => name,
    } as Parameters<typeof createRollbackConfiguration>[0]);
    expect(RollbackTriggers).not.toEqual(NO_ROLLBACK.RollbackTriggers);
    for (const [, { Properties }] of groups) {
      const { Enabled, Alarms } = Properties.AlarmConfiguration;
      const names = Alarms.map(
        ({ Name }) => resource<{ AlarmName: string }>(Name.Ref).Properties.AlarmName,
      );
      expect([Enabled, names]).toEqual([true, RollbackTriggers.map(({ Arn }) => Arn)]);
      expect(Properties.AutoRollbackConfiguration).toMatchObject({
        Enabled: true,
        Events: expect.arrayContaining(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']),
      });
    }
  });

  it.each(['AWS::Lambda::Version', 'AWS::CodeDeploy::DeploymentGroup'])(
    'a change to every %s starts only a few of them at once',
    (type) => {
      const resources = listResources(template, type);
      expect(resources).toHaveLength(aliases.length);
      let remaining = resources;
      while (remaining.length > 0) {
        const ids = remaining.map(([id]) => id);
        const waiting = remaining.filter(([, { DependsOn = [] }]) =>
          ids.some((id) => DependsOn.includes(id)),
        );
        expect(remaining.length - waiting.length).toBeLessThanOrEqual(MAX_STARTED_TOGETHER);
        expect(waiting.length).toBeLessThan(remaining.length);
        remaining = waiting;
      }
    },
  );

  it("the release stays within CloudFormation's limits", () => {
    expect(Object.keys(template.Resources).length).toBeLessThan(MAX_RESOURCES);
    expect(JSON.stringify(template, null, 2).length).toBeLessThan(MAX_TEMPLATE_BYTES);
  });

  it('no release waits for another one to end', () => {
    // An alias moves with its release, which can take minutes: only versions and groups, which are quick, wait for each other.
    for (const [, { DependsOn }] of aliases) expect(DependsOn).toBeUndefined();
  });
});

/** Runs the plug-in as Serverless Framework does: before and after it compiles the functions. @returns the resources of the template */
function packageFunctions(functions: Readonly<Record<string, Record<string, unknown>>>) {
  const Resources: Record<string, object> = {};
  const provider = { compiledCloudFormationTemplate: { Resources } };
  const { hooks } = new GradualRelease({
    service: { service: 'finance-ledger', functions, provider },
    getProvider: () => ({ getStage: () => 'prod' }),
  } as unknown as ConstructorParameters<typeof GradualRelease>[0]);
  hooks['before:package:compileFunctions']();
  for (const [name, settings] of Object.entries(functions)) {
    if (!settings.versionFunction) continue;
    settings.versionLogicalId = `${name}Version1`;
    const version = { Type: 'AWS::Lambda::Version', DeletionPolicy: 'Retain', Properties: {} };
    Resources[`${name}Version1`] = version;
  }
  hooks['after:package:compileFunctions']();
  return Resources;
}

it('the plug-in gives a function of the API an alias, before and after Serverless Framework has compiled it', () => {
  const functions: Record<string, Record<string, unknown>> = {
    move: { events: [{ httpApi: 'PUT /move' }] },
    frontPage: { events: [{ httpApi: 'GET /' }] },
    watch: { events: [{ schedule: {} }] },
  };
  const resources = packageFunctions(functions);
  const targetAlias = { name: 'live', logicalId: 'MoveAlias' };
  expect(functions.move).toMatchObject({ versionFunction: true, targetAlias });
  expect(functions.frontPage).not.toHaveProperty('targetAlias');
  expect(functions.watch).not.toHaveProperty('targetAlias');
  expect(resources.moveVersion1).toEqual({
    Type: 'AWS::Lambda::Version',
    Properties: { Description: { 'Fn::Sub': expect.stringContaining('$' + '{TableInUse}') } },
  });
  expect(resources.MoveAlias).toMatchObject({
    UpdatePolicy: { 'Fn::If': ['IsGradual', expect.anything(), { Ref: 'AWS::NoValue' }] },
  });
  expect(Object.keys(resources)).toEqual([
    ...['moveVersion1', 'MoveAlias', 'MoveRelease', 'GradualRelease', 'GradualReleaseRole'],
  ]);
});

// MAX_STARTED_TOGETHER resources start at once, so the next one depends on the first.
it('the plug-in lets a sixth function start only after the first', () => {
  const names = Array.from({ length: MAX_STARTED_TOGETHER + 1 }, (_, n) => `f${n}`);
  const routes = names.map((name) => [name, { events: [{ httpApi: `GET /${name}` }] }]);
  const resources = packageFunctions(Object.fromEntries(routes));
  const waiting = Object.entries(resources).filter(([, each]) => 'DependsOn' in each);
  expect(waiting).toEqual([
    ['f5Version1', expect.objectContaining({ DependsOn: ['f0Version1'] })],
    ['F5Release', expect.objectContaining({ DependsOn: ['F0Release'] })],
  ]);
});
