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
const prodStage = { ...inject('remover'), stage: 'prod' };
const TableName = stackName(prodStage.stage);
// The stage prod requires a topic for its alarms.
const { alarmTopicArn = '' } = inject('parameters');

async function createLeftOverTable(): Promise<void> {
  const table = { ...definition, TableName, DeletionProtectionEnabled: true };
  await client.send(new CreateTableCommand(table as never));
}

const discardTable = () => runServerless(prodStage, ['discard-table'], { alarmTopicArn });
const describeTable = () => client.send(new DescribeTableCommand({ TableName }));

test('discard-table reports that there is no left-over table', async () => {
  await expect(discardTable()).rejects.toThrow(`The table ${TableName} is absent`);
});

test('an empty left-over table is deleted even though it is protected', async () => {
  await createLeftOverTable();
  expect(await discardTable()).toContain(`Deleted the table ${TableName}`);
  await expect(describeTable()).rejects.toThrow(
    expect.objectContaining({ name: 'ResourceNotFoundException' }),
  );
});

test('after the table is deleted, the stack of the failed deployment can be removed', async () => {
  const cloudFormation = new CloudFormationClient(clientOptions(environment));
  const StackName = stackName(prodStage.stage);
  const Resources = { ServerlessDeploymentBucket: { Type: 'AWS::S3::Bucket' } };
  await cloudFormation.send(
    new CreateStackCommand({ StackName, TemplateBody: JSON.stringify({ Resources }) }),
  );
  await runServerless(prodStage, ['remove'], { alarmTopicArn });
  await expect(cloudFormation.send(new DescribeStacksCommand({ StackName }))).rejects.toThrow(
    'does not exist',
  );
});

test('a left-over table with data is kept', async () => {
  await createLeftOverTable();
  const Item = { pk: { S: 'default#TRANSACTION#1' }, sk: { S: '-' } };
  await client.send(new PutItemCommand({ TableName, Item }));
  await expect(discardTable()).rejects.toThrow('left over, with data');
  await expect(describeTable()).resolves.toBeDefined();
});

test('the table of a deployed stage is kept', async () => {
  const discarding = runServerless(inject('remover'), ['discard-table']);
  await expect(discarding).rejects.toThrow('of the stack');
});
