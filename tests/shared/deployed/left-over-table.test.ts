// A first deployment that fails leaves its empty table behind: `serverless discard-table` deletes that table, and no other.
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, inject, test } from 'vitest';
import definition from '../../../lib/shared/table.json' with { type: 'json' };
import { clientOptions, runServerless, stackName } from '../../../local/emulator/emulated-stage.ts';

const { environment } = inject('deployed');
const client = new DynamoDBClient(clientOptions(environment));
// No test deploys the stage prod, so its table can stand for one that a failed deployment left.
const other = { ...inject('remover'), stage: 'prod' };
const TableName = stackName(other.stage);
// The stage prod requires a topic for its alarms.
const { alarmTopicArn = '' } = inject('parameters');

async function leaveTable(): Promise<void> {
  const table = { ...definition, TableName, DeletionProtectionEnabled: true };
  await client.send(new CreateTableCommand(table as never));
}

const discard = () => runServerless(other, ['discard-table'], { alarmTopicArn });
const describeTable = () => client.send(new DescribeTableCommand({ TableName }));

test('the command says so if there is no left-over table', async () => {
  await expect(discard()).rejects.toThrow(`The table ${TableName} is absent`);
});

test('an empty left-over table is deleted even though it is protected', async () => {
  await leaveTable();
  expect(await discard()).toContain(`Deleted the table ${TableName}`);
  await expect(describeTable()).rejects.toThrow(
    expect.objectContaining({ name: 'ResourceNotFoundException' }),
  );
});

test('after that, the stack of the failed deployment can be removed', async () => {
  const cloudFormation = new CloudFormationClient(clientOptions(environment));
  const StackName = stackName(other.stage);
  const Resources = { ServerlessDeploymentBucket: { Type: 'AWS::S3::Bucket' } };
  await cloudFormation.send(
    new CreateStackCommand({ StackName, TemplateBody: JSON.stringify({ Resources }) }),
  );
  await runServerless(other, ['remove'], { alarmTopicArn });
  await expect(cloudFormation.send(new DescribeStacksCommand({ StackName }))).rejects.toThrow(
    'does not exist',
  );
});

test('a left-over table with data is kept', async () => {
  await leaveTable();
  const Item = { pk: { S: 'default#TRANSACTION#1' }, sk: { S: '-' } };
  await client.send(new PutItemCommand({ TableName, Item }));
  await expect(discard()).rejects.toThrow('left over, with data');
  await expect(describeTable()).resolves.toBeDefined();
});

test('the table of a deployed stage is kept', async () => {
  const discarded = runServerless(inject('remover'), ['discard-table']);
  await expect(discarded).rejects.toThrow('of the stack');
});
