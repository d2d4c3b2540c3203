// "Restore" of docs/ledger/deploy.md, line by line; afterwards no rollback points the functions at the damaged table again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteFunctionConcurrencyCommand,
  LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { afterAll, expect, inject, test } from 'vitest';
import {
  clientOptions,
  deployStage,
  runServerless,
  stackOf,
} from '../../../local/emulator/emulated-stage.ts';
import { createHttpClient } from '../../ledger/support/api/http-client.ts';
import { runCommand } from '../support/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { listDeployments } from './deployments.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { stage, environment } = inject('operator');
const deployer = inject('deployer');
const dynamodb = new DynamoDBClient(clientOptions(environment));
const lambda = new LambdaClient(clientOptions(environment));
const api = createHttpClient(inject('apiUrl'), { authorization: `Bearer ${inject('apiKey')}` });
afterAll(() => api.close());

const DAMAGED = stackOf(stage);
const RESTORED = `${DAMAGED}-restored`;

/** The functions that write, as the document names them. */
const [, writers = ''] =
  /for name in (transactions[\w ]+); do/.exec(
    readFileSync(join(ROOT, 'docs/ledger/deploy.md'), 'utf8'),
  ) ?? [];
const functionNames = writers.split(' ').map((name) => `${DAMAGED}-${name}`);

const createCategory = (name: string) => api.request('POST', '/categories/', { body: { name } });

test('writes are stopped and reads are not', async () => {
  expect((await createCategory('Before the restore')).status).toBe(201);
  for (const FunctionName of functionNames) {
    const command = { FunctionName, ReservedConcurrentExecutions: 0 };
    await lambda.send(new PutFunctionConcurrencyCommand(command));
  }
  expect((await createCategory('Refused')).status).toBeGreaterThanOrEqual(429);
  expect((await api.request('GET', '/categories/')).status).toBe(200);
});

test('the table is restored under another name, protected, and its figures are right', async () => {
  await dynamodb.send(
    new RestoreTableToPointInTimeCommand({
      SourceTableName: DAMAGED,
      TargetTableName: RESTORED,
      RestoreDateTime: new Date(),
    }),
  );
  await waitUntilTableExists({ client: dynamodb, maxWaitTime: 60 }, { TableName: RESTORED });
  const protection = { TableName: RESTORED, DeletionProtectionEnabled: true };
  await dynamodb.send(new UpdateTableCommand(protection));
  await dynamodb.send(
    new UpdateContinuousBackupsCommand({
      TableName: RESTORED,
      PointInTimeRecoverySpecification: {
        PointInTimeRecoveryEnabled: true,
        RecoveryPeriodInDays: 35,
      },
    }),
  );
  await dynamodb.send(
    new UpdateTimeToLiveCommand({
      TableName: RESTORED,
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
    }),
  );
  const { TimeToLiveDescription } = await dynamodb.send(
    new DescribeTimeToLiveCommand({ TableName: RESTORED }),
  );
  expect(TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED' });
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: RESTORED }));
  expect(Table).toMatchObject({ TableStatus: 'ACTIVE', DeletionProtectionEnabled: true });
  const place = { ...environment, TABLE_NAME: RESTORED, LEDGER_ID: 'home' };
  const words = ['--stage', stage, '--full', '--json'];
  const { stdout } = await runCommand('cli/ledger/verify-ledger.ts', words, place);
  expect(JSON.parse(stdout)).toMatchObject({ drifts: [] });
});

test('a deployment moves the functions and their roles to the restored table', async () => {
  const parameters = { ...inject('parameters'), tableName: RESTORED };
  await deployStage(deployer, await temporaryFolder(), parameters);
  for (const FunctionName of functionNames) {
    await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  }
  const before = await countItems(DAMAGED);
  expect((await createCategory('After the restore')).status).toBe(201);
  expect(await countItems(DAMAGED)).toBe(before);
  expect(await countItems(RESTORED)).toBeGreaterThan(before);
});

test('commands work on the restored table: a key that is revoked ends', async () => {
  const keys = async (...words: string[]) =>
    await runCommand('cli/ledger/keys.ts', ['--stage', stage, ...words], environment);
  const created = await keys('create', '--name', 'restored', '--ledger', 'restored');
  const key = createHttpClient(inject('apiUrl'), {
    authorization: `Bearer ${created.stdout.trim()}`,
  });
  try {
    const [, id = ''] = /^Key (\w+) /m.exec(created.stderr) ?? [];
    expect((await key.request('GET', '/categories/')).status).toBe(200);
    expect(await keys('revoke', id)).toMatchObject({ code: 0 });
    // A function that has not used the key before remembers nothing of it.
    expect((await key.request('GET', '/summary/?group_by=type')).status).toBe(401);
  } finally {
    await key.close();
  }
});

test('a rollback to the damaged table is refused, and one to the restored table is not', async () => {
  const timestamps = await listDeployments(deployer);
  const [first = ''] = timestamps;
  const rollBack = (timestamp: string) =>
    runServerless(deployer, ['rollback', '--timestamp', timestamp], inject('parameters'));
  await expect(rollBack(first)).rejects.toThrow(
    `It would point the functions at the table ${DAMAGED}; the table in use is ${RESTORED}.`,
  );
  await rollBack(timestamps.at(-1) ?? '');
  expect((await createCategory('After the rollback')).status).toBe(201);
});

async function countItems(TableName: string): Promise<number> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
  return Table?.ItemCount ?? 0;
}
