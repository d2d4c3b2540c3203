// Vitest's global setup of the tests in this folder: starts an AWS emulator and the services that a migration uses, and
// deploys the service on the emulator.
import { DynamoDBClient, UpdateContinuousBackupsCommand } from '@aws-sdk/client-dynamodb';
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { TestProject } from 'vitest/node';
import { createRunRecords } from '../../../lib/migration/runs/run-store.ts';
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import { startAwsEmulator } from '../../../local/emulator/aws-emulator.ts';
import {
  clientOptions,
  deployStage,
  type EmulatedStage,
  readAddress,
  repairCors,
  stackName,
} from '../../../local/emulator/emulated-stage.ts';
import { createResources, type Resources } from '../../../processes/resources.ts';
import { startWebhook } from '../../../sandbox/webhook.ts';
import { SOURCE, startSandboxWorld } from '../../../sandbox/world.ts';
import { runCommand } from '../support/command.ts';
import { createUser, putBoundary } from './users.ts';

declare module 'vitest' {
  interface ProvidedContext {
    deployed: EmulatedStage;
    /** The same stage for a user in each role of docs/ledger/deploy.md, with only the policies of that role */
    restorer: EmulatedStage;
    deployer: EmulatedStage;
    operator: EmulatedStage;
    remover: EmulatedStage;
    /** Number of roles that have the permissions boundary */
    boundedRoles: number;
    /** Package to deploy, for `serverless deploy --package`. */
    packageFolder: string;
    /** Parameters of the stage. */
    parameters: Readonly<Record<string, string>>;
    /** Run whose test user the memory backend knows */
    runId: string;
    /** Key for the ledger that the tests use; the deployed service requires one. */
    apiKey: string;
  }
}

const STAGE = 'dev';
const RUN_ID = 'deployed';
const BUCKET = 'migration-artifacts';
const KEY_PARAMETER = '/emulated/memory-backend-key';
const COLLECTION_PARAMETER = '/emulated/memory-collection';
const CANARY_KEY_PARAMETER = '/finance-ledger/dev/canary-key';

// Shortens the long waits of the state machine to a hundredth.
const WAIT_SCALE = 0.01;

export default async function deployService({ provide }: TestProject) {
  const resources = createResources();
  try {
    const { environment } = await startAwsEmulator(resources, { waitScale: WAIT_SCALE });
    // Clients in this process and in the processes of the tests, which inherit its environment, use the emulator.
    Object.assign(process.env, environment);
    const deployed = { stage: STAGE, environment };
    const parameters = await startMigrationServices(resources, environment);
    const folder = await resources.createTemporaryFolder('ledger-deployed-');
    const deployer = {
      ...deployed,
      environment: await createUser(environment, 'deploy', 'deploy'),
    };
    const operator = {
      ...deployed,
      environment: await createUser(environment, 'operator', 'operator'),
    };
    const remover = {
      ...deployed,
      environment: await createUser(environment, 'removal', 'removal'),
    };
    const restorer = {
      ...deployed,
      environment: await createUser(environment, 'restore', 'operator', 'deploy'),
    };
    await deployStage(deployer, folder, parameters);
    provide('boundedRoles', (await putBoundary(deployed)).length);
    provide('deployer', deployer);
    provide('operator', operator);
    provide('remover', remover);
    provide('restorer', restorer);
    provide('packageFolder', folder);
    provide('parameters', parameters);
    await repairCors(deployed);
    provide('deployed', deployed);
    provide('runId', RUN_ID);
    provide('apiKey', await createKey(operator, 'home'));
    await prepareCanary(deployed, await createKey(operator, 'canary'));
    provide('apiUrl', await readAddress(deployed));
  } catch (error) {
    await resources.stop();
    throw error;
  }
  return resources.stop;
}

/** @returns the secret of a new API key */
async function createKey({ stage, environment }: EmulatedStage, ledger: string): Promise<string> {
  const args = ['--stage', stage, 'create', '--name', 'tests', '--ledger', ledger];
  const { code, stdout, stderr } = await runCommand('cli/ledger/keys.ts', args, environment);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

/**
 * Gives the canary its API key, and the address that the API has on the emulator. Also turns on
 * point-in-time recovery of the table, because CloudFormation on the emulator does not.
 */
async function prepareCanary(deployed: EmulatedStage, key: string): Promise<void> {
  const options = clientOptions(deployed.environment);
  await new DynamoDBClient(options).send(
    new UpdateContinuousBackupsCommand({
      TableName: stackName(deployed.stage),
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  );
  const secret = { Name: CANARY_KEY_PARAMETER, Value: key, Type: 'SecureString' } as const;
  await new SSMClient(options).send(new PutParameterCommand(secret));
  const lambda = new LambdaClient(options);
  const FunctionName = `${stackName(deployed.stage)}-canary`;
  const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  const [apiId] = new URL(await readAddress(deployed)).hostname.split('.');
  const API_URL = `${deployed.environment.AWS_ENDPOINT_URL}/_aws/execute-api/${apiId}`;
  const Variables = { ...Environment?.Variables, API_URL };
  await lambda.send(
    new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }),
  );
}

/** @returns the parameters of the stage */
async function startMigrationServices(
  resources: Resources,
  environment: EmulatedStage['environment'],
) {
  const client = createDocumentClient(environment.AWS_ENDPOINT_URL);
  const tableName = `finance-ledger-${STAGE}`;
  const records = createRunRecords({ client, tableName, clock: () => new Date() });
  const world = await startSandboxWorld({ runId: RUN_ID, records, hasGraph: false });
  resources.onStop(world.close);
  const webhook = await startWebhook(world.operator.hooks);
  resources.onStop(webhook.close);
  const { QDRANT_URL = '', MEMORY_BACKEND_URL = '', MEMORY_PREVIEW_URL = '' } = world.environment;
  await createAwsResources(environment, world.environment.MEMORY_BACKEND_KEY ?? '');
  return {
    qdrantUrl: QDRANT_URL,
    memoryBackendUrl: MEMORY_BACKEND_URL,
    memoryPreviewUrl: MEMORY_PREVIEW_URL,
    memoryBackendKeyParameter: KEY_PARAMETER,
    migrationWebhookUrl: webhook.url,
    collectionParameter: COLLECTION_PARAMETER,
    artifactsUrl: `s3://${BUCKET}/migration`,
    canaryKeyParameter: CANARY_KEY_PARAMETER,
    alarmTopicArn: 'arn:aws:sns:eu-west-1:000000000000:alarms',
  };
}

/** Creates the bucket and parameters that an operator sets up before the first deployment with a migration. */
async function createAwsResources(
  environment: EmulatedStage['environment'],
  key: string,
): Promise<void> {
  const options = clientOptions(environment);
  const s3 = new S3Client({ ...options, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, ObjectLockEnabledForBucket: true }));
  const ssm = new SSMClient(options);
  for (const [Name, Value, Type] of [
    [KEY_PARAMETER, key, 'SecureString'],
    [COLLECTION_PARAMETER, SOURCE, 'String'],
  ] as const) {
    await ssm.send(new PutParameterCommand({ Name, Value, Type }));
  }
}
