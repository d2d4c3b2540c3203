// Deploys the service to the AWS emulator, with the same commands as to an AWS account.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiGatewayV2Client, UpdateApiCommand } from '@aws-sdk/client-apigatewayv2';
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import { createApiKeys } from '../../lib/ledger/store/api-keys.ts';
import { createLedgerDatabase } from '../../lib/ledger/store/schema.ts';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/shared/retry.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import { createBuildFolder } from '../../processes/build-folder.ts';
import { COMPILE_CACHE, SERVERLESS_HOME } from '../../processes/caches.ts';
import { createResources, type Resources } from '../../processes/resources.ts';
import { runToEnd } from '../../processes/tools.ts';

const PROJECT = join(import.meta.dirname, '../..');
const SERVERLESS = join(PROJECT, 'node_modules/serverless/bin/serverless.js');

export interface EmulatedStage {
  readonly stage: string;
  /** Variables that direct every AWS client to the emulator. */
  readonly environment: Readonly<Record<string, string>>;
  /** When these are stopped, the command in progress stops too. */
  readonly resources?: Resources;
}

/**
 * Packages the service into a folder, and deploys it from there.
 * @throws UserError with the output of the Serverless Framework
 */
export async function deployStage(
  emulatedStage: EmulatedStage,
  packageFolder: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  await runServerless(emulatedStage, ['package', '--package', packageFolder], parameters);
  await removeUnsupportedResources(packageFolder);
  await runServerless(emulatedStage, ['deploy', '--package', packageFolder], parameters);
}

// The policy of the code bucket requires HTTPS, but the emulator offers only HTTP. The emulator's CloudFormation knows neither
// saved queries nor CodeDeploy.
const UNSUPPORTED_TYPES = [
  'AWS::S3::BucketPolicy',
  'AWS::Logs::QueryDefinition',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
];

/**
 * Removes from a package the resources that the emulator refuses, including alarms with metric math. Instead, the conditions of
 * those alarms are approved in tests/shared/wiring/approved/migrating.yml.
 */
async function removeUnsupportedResources(packageFolder: string): Promise<void> {
  const file = join(packageFolder, 'serverless-state.json');
  const state = JSON.parse(await readFile(file, 'utf8'));
  const { compiledCloudFormationTemplate, coreCloudFormationTemplate } = state.service.provider;
  for (const { Resources } of [compiledCloudFormationTemplate, coreCloudFormationTemplate]) {
    for (const [name, resource] of Object.entries<PackagedResource>(Resources)) {
      const { Type, Properties } = resource;
      if (Properties?.Metrics || UNSUPPORTED_TYPES.includes(Type)) delete Resources[name];
      // The update policy names CodeDeploy groups, which are removed as well.
      delete resource.UpdatePolicy;
    }
  }
  await writeFile(file, JSON.stringify(state));
}

interface PackagedResource {
  readonly Type: string;
  readonly Properties?: { readonly Metrics?: unknown };
  UpdatePolicy?: unknown;
}

/**
 * Sets the CORS configuration again, and allows the address of the API as well, which is known only after the deployment. The
 * emulator's CloudFormation stores the configuration under names that its gateway does not read, so every preflight would fail
 * with 403. The gateway's own API stores it correctly.
 */
export async function repairCors(emulatedStage: EmulatedStage): Promise<void> {
  const options = clientOptions(emulatedStage.environment);
  const { TemplateBody = '' } = await new CloudFormationClient(options).send(
    new GetTemplateCommand({ StackName: stackName(emulatedStage.stage) }),
  );
  const { CorsConfiguration } = JSON.parse(TemplateBody).Resources.HttpApi.Properties;
  const AllowOrigins = [...CorsConfiguration.AllowOrigins, await readAddress(emulatedStage)];
  const ApiId = await readApiId(emulatedStage);
  await new ApiGatewayV2Client(options).send(
    new UpdateApiCommand({ ApiId, CorsConfiguration: { ...CorsConfiguration, AllowOrigins } }),
  );
}

/** Creates an API key for the ledger. @returns the secret of the key */
export async function createKey(
  { stage, environment }: EmulatedStage,
  ledger: string,
): Promise<string> {
  Object.assign(process.env, environment);
  const database = createLedgerDatabase({
    client: createDocumentClient(environment.AWS_ENDPOINT_URL),
    tableName: stackName(stage),
    retryPolicy: DEFAULT_RETRY_POLICY,
  });
  const keys = createApiKeys({ database, clock: () => new Date() });
  return (await keys.create({ name: 'emulator', ledger, scope: 'write' })).secret;
}

/**
 * Runs a `serverless` command with a temporary home folder, which is removed even if the command is stopped. Caches are kept.
 * @returns the output of the command
 * @throws UserError with the output of the command
 */
export async function runServerless(
  { stage, environment, resources }: EmulatedStage,
  command: readonly string[],
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const commandResources = createResources();
  resources?.onStop(commandResources.stop);
  // The framework does not remove its temporary folders, one for each function. So they go into a folder that is removed here.
  const scratch = join(PROJECT, createBuildFolder(commandResources));
  const parameterArgs = Object.entries(parameters).map(
    ([name, value]) => `--param=${name}=${value}`,
  );
  try {
    return await runToEnd(commandResources, {
      title: `serverless ${command.join(' ')}`,
      command: process.execPath,
      args: [SERVERLESS, ...command, '--stage', stage, ...parameterArgs],
      folder: PROJECT,
      environment: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        TMPDIR: scratch,
        HOME: scratch,
        SLS_SCHEMA_CACHE_BASE_DIR: SERVERLESS_HOME,
        BUILD_FOLDER: createBuildFolder(commandResources),
        ...environment,
      },
    });
  } finally {
    await commandResources.stop();
  }
}

/** Reads the id of the API from the deployed stack. */
async function readApiId({ stage, environment }: EmulatedStage): Promise<string> {
  const client = new CloudFormationClient(clientOptions(environment));
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName(stage) }));
  const outputs = Stacks?.[0]?.Outputs ?? [];
  const apiId = outputs.find(({ OutputKey }) => OutputKey === 'HttpApiId')?.OutputValue;
  if (apiId === undefined) throw new UserError(`The stack ${stackName(stage)} has no HttpApiId`);
  return apiId;
}

/** Returns the address of the deployed API, without a slash at the end. */
export async function readAddress(emulatedStage: EmulatedStage): Promise<string> {
  const { port } = new URL(emulatedStage.environment.AWS_ENDPOINT_URL ?? '');
  return `http://${await readApiId(emulatedStage)}.execute-api.localhost:${port}`;
}

export function stackName(stage: string): string {
  return `finance-ledger-${stage}`;
}

/** Returns options with which an AWS client calls the emulator. */
export function clientOptions(environment: EmulatedStage['environment']) {
  const { AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = environment;
  return {
    endpoint: AWS_ENDPOINT_URL ?? '',
    region: AWS_REGION ?? '',
    credentials: {
      accessKeyId: AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: AWS_SECRET_ACCESS_KEY ?? '',
    },
  };
}
