// A plugin of Serverless Framework: a new version of an API function gets a tenth of the requests first, and all of them once no
// alarm has fired for a quarter of an hour. docs/ledger/decisions/0026-gradual-release.md has the reasons.
//
// The gateway reaches each function through an alias. CodeDeploy moves the alias gradually, but only while alarms watch the
// deployment (serverless/deploy-rollback.ts): otherwise CloudFormation moves the alias at once.
import { type FunctionSettings, type Resources, toLogicalName } from '../configuration.ts';
import { listRollbackAlarms } from '../deploy-rollback.ts';
import { allow, policy, serviceRole, substitute } from '../roles.ts';

/** The alias through which the gateway invokes functions. */
export const ALIAS = 'live';
const APPLICATION = 'GradualRelease';
/**
 * The function of the page at `/`. Page, style and scripts must come from one release; while a release shifts, a browser
 * could get each from a different one.
 */
const PAGE = 'frontPage';
/**
 * Number of functions whose release begins together. Lambda accepts 15 changes per second from an account, and a change that
 * Lambda refuses fails the deployment.
 */
const MAX_STARTING = 5;
/** Shifts within 15 minutes, the time that an alarm on two of three periods of five minutes needs to fire. */
const SHIFT_CONFIGURATION = 'CodeDeployDefault.LambdaCanary10Percent15Minutes';

const RELEASE_ACTIONS = [
  'lambda:GetAlias',
  'lambda:UpdateAlias',
  'lambda:GetProvisionedConcurrencyConfig',
];

/** A function as Serverless Framework handles it. */
interface PackagedFunction extends FunctionSettings {
  /** The alias to which Serverless Framework points routes and permissions. */
  targetAlias?: { readonly name: string; readonly logicalId: string };
  versionFunction?: boolean;
  /** Known once the function is compiled. */
  readonly versionLogicalId?: string;
}

interface Version {
  DeletionPolicy?: string;
  readonly Properties: { Description?: object };
}

interface Dependent {
  DependsOn?: readonly string[];
}

interface Serverless {
  readonly service: {
    readonly service: string;
    readonly functions: Readonly<Record<string, PackagedFunction>>;
    readonly provider: { readonly compiledCloudFormationTemplate: { Resources: Resources } };
  };
  getProvider(name: 'aws'): { getStage(): string };
}

export class GradualRelease {
  readonly hooks = {
    'before:package:compileFunctions': () => this.#nameAliases(),
    'after:package:compileFunctions': () => this.#addResources(),
    'after:package:compileEvents': () => this.#permitBeforeRouting(),
  };

  readonly #serverless: Serverless;

  constructor(serverless: Serverless) {
    this.#serverless = serverless;
  }

  /** The functions that are released gradually: those of the API, except the page. */
  get #gradualFunctions(): [name: string, settings: PackagedFunction][] {
    const functions = Object.entries(this.#serverless.service.functions);
    return functions.filter(
      ([name, { events = [] }]) => name !== PAGE && events.some(({ httpApi }) => httpApi),
    );
  }

  #nameAliases(): void {
    for (const [name, settings] of this.#gradualFunctions) {
      settings.versionFunction = true;
      settings.targetAlias = { name: ALIAS, logicalId: `${toLogicalName(name)}Alias` };
    }
  }

  #addResources(): void {
    const { service, functions, provider } = this.#serverless.service;
    const { Resources } = provider.compiledCloudFormationTemplate;
    const alarms = listRollbackAlarms(Object.keys(functions));
    for (const [name, { versionLogicalId = '' }] of this.#gradualFunctions) {
      publishForTable(Resources[versionLogicalId] as Version);
      Resources[`${toLogicalName(name)}Alias`] = createAlias(name, versionLogicalId);
      Resources[`${toLogicalName(name)}Release`] = createDeploymentGroup(alarms);
    }
    const groups = this.#gradualFunctions.map(([name]) => `${toLogicalName(name)}Release`);
    const versions = this.#gradualFunctions.map(
      ([, { versionLogicalId = '' }]) => versionLogicalId,
    );
    for (const ids of [groups, versions]) spreadOverTime(Resources, ids);
    const ApplicationName = `${service}-${this.#serverless.getProvider('aws').getStage()}`;
    Resources[APPLICATION] = {
      Type: 'AWS::CodeDeploy::Application',
      Properties: { ApplicationName, ComputePlatform: 'Lambda' },
    };
    Resources[`${APPLICATION}Role`] = createReleaseRole(
      this.#gradualFunctions.map(([name]) => name),
    );
  }

  /** Permits the gateway to invoke an alias before routes point to it; in between, requests would fail with 500. */
  #permitBeforeRouting(): void {
    const { Resources } = this.#serverless.service.provider.compiledCloudFormationTemplate;
    for (const [name, { targetAlias }] of this.#gradualFunctions) {
      const integration = Resources[`HttpApiIntegration${toLogicalName(name)}`] as
        | Dependent
        | undefined;
      const permission = `${toLogicalName(name)}LambdaPermissionHttpApi`;
      if (integration && targetAlias) {
        integration.DependsOn = [targetAlias.logicalId, permission];
      }
    }
  }
}

/** Makes each resource depend on the one MAX_STARTING places before it. */
function spreadOverTime(resources: Resources, ids: readonly string[]): void {
  for (const [n, id] of ids.entries()) {
    const earlierId = ids[n - MAX_STARTING];
    if (earlierId !== undefined) Object.assign(resources[id] ?? {}, { DependsOn: [earlierId] });
  }
}

/**
 * A version keeps the environment variables that its function had, including the name of the table. The description changes with
 * the table, so CloudFormation publishes a new version after a restore, and moves the alias to it.
 *
 * The framework's deletion policy would keep every version. The version of a deployment that was rolled back would then block
 * the next attempt: Lambda publishes the same code and configuration only once.
 */
function publishForTable(version: Version): void {
  delete version.DeletionPolicy;
  version.Properties.Description = substitute(`For the table \${TableInUse}`);
}

function createAlias(name: string, version: string): object {
  const DeploymentGroupName = { Ref: `${toLogicalName(name)}Release` };
  const gradualUpdate = {
    CodeDeployLambdaAliasUpdate: { ApplicationName: { Ref: APPLICATION }, DeploymentGroupName },
  };
  return {
    Type: 'AWS::Lambda::Alias',
    Properties: {
      Name: ALIAS,
      FunctionName: { Ref: `${toLogicalName(name)}LambdaFunction` },
      FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
    },
    UpdatePolicy: { 'Fn::If': ['IsGradual', gradualUpdate, { Ref: 'AWS::NoValue' }] },
  };
}

function createDeploymentGroup(alarms: readonly string[]): object {
  return {
    Type: 'AWS::CodeDeploy::DeploymentGroup',
    Properties: {
      ApplicationName: { Ref: APPLICATION },
      ServiceRoleArn: { 'Fn::GetAtt': [`${APPLICATION}Role`, 'Arn'] },
      DeploymentConfigName: SHIFT_CONFIGURATION,
      DeploymentStyle: {
        DeploymentType: 'BLUE_GREEN',
        DeploymentOption: 'WITH_TRAFFIC_CONTROL',
      },
      AlarmConfiguration: { Enabled: true, Alarms: alarms.map((Ref) => ({ Name: { Ref } })) },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      },
    },
  };
}

// The part of AWSCodeDeployRoleForLambda that a release without hooks needs. IAM names an alias by its function, too.
function createReleaseRole(functions: readonly string[]): object {
  const resources = functions.flatMap((name) => {
    const id = `${toLogicalName(name)}LambdaFunction`;
    return [{ 'Fn::GetAtt': [id, 'Arn'] }, substitute(`\${${id}.Arn}:*`)];
  });
  return serviceRole('codedeploy.amazonaws.com', [
    policy('move-aliases', [
      allow(RELEASE_ACTIONS, resources),
      allow(['cloudwatch:DescribeAlarms'], ['*']),
    ]),
  ]);
}

// Serverless Framework loads this file, and calls the export of this name.
export { GradualRelease as 'module.exports' };
