// Sets up an account as its administrator does before the first deployment: a user for each role, and the boundary.
import { readFile } from 'node:fs/promises';
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import {
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreatePolicyCommand,
  CreateUserCommand,
  IAMClient,
  PutRolePermissionsBoundaryCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import {
  clientOptions,
  type EmulatedStage,
  stackName,
} from '../../../local/emulator/emulated-stage.ts';
import { type PolicyName, policyFile } from '../../../local/emulator/policies.ts';

/** Creates a user with only these policies. @returns the environment of that user */
export async function createUser(
  environment: EmulatedStage['environment'],
  name: string,
  ...policies: readonly PolicyName[]
) {
  const iam = new IAMClient(clientOptions(environment));
  await iam.send(new CreateUserCommand({ UserName: name }));
  for (const policy of policies) {
    const PolicyArn = await createPolicy(iam, policy);
    await iam.send(new AttachUserPolicyCommand({ UserName: name, PolicyArn }));
  }
  if (policies.includes('operator')) await allowRestores(iam, name);
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: name }));
  return {
    ...environment,
    AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey ?? '',
  };
}

/** Allows restores of any table: the emulator cannot tell which table these calls concern, so naming a table fails. */
async function allowRestores(iam: IAMClient, UserName: string): Promise<void> {
  const Action = ['RestoreTableToPointInTime', 'ListTagsOfResource', 'TagResource'].map(
    (name) => `dynamodb:${name}`,
  );
  const Statement = [{ Effect: 'Allow', Action, Resource: '*' }];
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
  await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'restores', PolicyDocument }));
}

/**
 * Puts the permissions boundary on the roles of the stage, because CloudFormation on the emulator leaves it out.
 * Everything that the roles do afterwards is within the boundary.
 */
export async function putBoundary({ stage, environment }: EmulatedStage): Promise<string[]> {
  const options = clientOptions(environment);
  const [iam, client] = [new IAMClient(options), new CloudFormationClient(options)];
  const PermissionsBoundary = await createPolicy(iam, 'boundary');
  const StackName = stackName(stage);
  const { TemplateBody = '' } = await client.send(new GetTemplateCommand({ StackName }));
  const { Resources } = JSON.parse(TemplateBody);
  const { StackResources = [] } = await client.send(
    new DescribeStackResourcesCommand({ StackName }),
  );
  const bounded = StackResources.filter(
    ({ LogicalResourceId = '' }) => Resources[LogicalResourceId]?.Properties?.PermissionsBoundary,
  ).map(({ PhysicalResourceId = '' }) => PhysicalResourceId);
  for (const RoleName of bounded) {
    await iam.send(new PutRolePermissionsBoundaryCommand({ RoleName, PermissionsBoundary }));
  }
  return bounded;
}

async function createPolicy(iam: IAMClient, name: PolicyName): Promise<string> {
  const PolicyDocument = await readFile(policyFile(name), 'utf8');
  const PolicyName = `finance-ledger-${name}`;
  try {
    const { Policy } = await iam.send(new CreatePolicyCommand({ PolicyName, PolicyDocument }));
    return Policy?.Arn ?? '';
  } catch (error) {
    if ((error as Error).name !== 'EntityAlreadyExistsException') throw error;
    return `arn:aws:iam::000000000000:policy/${PolicyName}`;
  }
}
