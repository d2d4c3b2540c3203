// What the roles of docs/deploy.md may not do, each with exactly its policy. All other tests of this folder act in them.
import { CloudFormationClient, DeleteStackCommand } from '@aws-sdk/client-cloudformation';
import { DeleteTableCommand, DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  IAMClient,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, inject, test } from 'vitest';
import { clientOptions, stackOf } from '../../local/emulator/emulated-stage.ts';

const deployed = inject('deployed');
const of = (name: 'deployer' | 'operator' | 'remover') => clientOptions(inject(name).environment);
const TableName = stackOf(deployed.stage);
const StackName = TableName;
const RoleName = `${StackName}-any`;
const Anybody = { Version: '2012-10-17', Statement: [] };
const AssumeRolePolicyDocument = JSON.stringify(Anybody);

const REFUSED: Readonly<Record<string, () => Promise<unknown>>> = {
  'the deployer deletes a table': () =>
    new DynamoDBClient(of('deployer')).send(new DeleteTableCommand({ TableName })),
  'the operator deletes a table': () =>
    new DynamoDBClient(of('operator')).send(new DeleteTableCommand({ TableName })),
  'the deployer removes a stage': () =>
    new CloudFormationClient(of('deployer')).send(new DeleteStackCommand({ StackName })),
  'the deployer creates a role without the boundary': () =>
    new IAMClient(of('deployer')).send(
      new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }),
    ),
  'the deployer changes a role of another name': () =>
    new IAMClient(of('deployer')).send(
      new PutRolePolicyCommand({
        ...{ RoleName: 'ledger-operator', PolicyName: 'more' },
        PolicyDocument: AssumeRolePolicyDocument,
      }),
    ),
  'the deployer takes a boundary away': () =>
    new IAMClient(of('deployer')).send(new DeleteRolePermissionsBoundaryCommand({ RoleName })),
  'the operator creates a role': () =>
    new IAMClient(of('operator')).send(
      new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }),
    ),
  'the operator invokes a function of the API': () =>
    new LambdaClient(of('operator')).send(
      new InvokeCommand({ FunctionName: `${StackName}-transactionsList` }),
    ),
  'who removes reads a ledger': () =>
    new DynamoDBClient(of('remover')).send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'home#CATEGORIES' } },
      }),
    ),
};

test.each(Object.entries(REFUSED))('is refused: %s', async (_, attempt) => {
  await expect(attempt()).rejects.toThrow(/not authorized|AccessDenied/);
});

test('every role of the stage acts within the boundary', () => {
  expect(inject('boundedRoles')).toBeGreaterThan(20);
});
