// The removal of a stage keeps its table.
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, inject, test } from 'vitest';
import { clientOptions, runServerless, stackName } from '../../../local/emulator/emulated-stage.ts';

const deployed = inject('deployed');
const options = clientOptions(deployed.environment);

beforeAll(async () => {
  await runServerless(inject('remover'), ['remove']);
});

test('the stack is deleted', async () => {
  const StackName = stackName(deployed.stage);
  const described = new CloudFormationClient(options).send(
    new DescribeStacksCommand({ StackName }),
  );
  await expect(described).rejects.toThrow(/does not exist/);
});

test('the table is kept', async () => {
  const { Table } = await new DynamoDBClient(options).send(
    new DescribeTableCommand({ TableName: stackName(deployed.stage) }),
  );
  expect(Table).toMatchObject({ TableStatus: 'ACTIVE', DeletionProtectionEnabled: true });
});
