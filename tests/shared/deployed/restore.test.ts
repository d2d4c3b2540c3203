// `npm run restore` on a deployed stage, even if the command is killed midway. Afterwards no deployment and no rollback
// returns to the damaged table.
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  UpdateContinuousBackupsCommand,
} from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, expect, inject, test } from 'vitest';
import { nameRestoredTable } from '../../../cli/restore/restoration.ts';
import {
  clientOptions,
  deployStage,
  runServerless,
  stackName,
} from '../../../local/emulator/emulated-stage.ts';
import { createHttpClient } from '../../ledger/support/api/http-client.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { listDeployments } from './deployments.ts';

const { stage, environment } = inject('restorer');
const deployer = inject('deployer');
const dynamodb = new DynamoDBClient(clientOptions(inject('deployed').environment));
const lambda = new LambdaClient(clientOptions(inject('deployed').environment));
const api = createHttpClient(inject('apiUrl'), { authorization: `Bearer ${inject('apiKey')}` });
afterAll(() => api.close());

const DAMAGED = stackName(stage);
const RESTORE_TIME = new Date(Math.floor(Date.now() / 1000) * 1000);
const RESTORED = nameRestoredTable(DAMAGED, RESTORE_TIME);
const RESTORE_PROGRAM = 'cli/restore/restore.ts';
const ARGUMENTS = [
  '--stage',
  stage,
  '--to',
  RESTORE_TIME.toISOString(),
  '--during-run',
  inject('runId'),
];

const createCategory = (name: string) => api.request('POST', '/categories/', { body: { name } });

test('a dry run shows the steps and changes nothing', async () => {
  // Recovery is turned off: otherwise the emulator would report the present second as the only time to restore to.
  await dynamodb.send(
    new UpdateContinuousBackupsCommand({
      TableName: DAMAGED,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
    }),
  );
  const { code, stdout, stderr } = await runCommand(
    RESTORE_PROGRAM,
    [...ARGUMENTS, '--dry-run'],
    environment,
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toEqual([
    '1. Stop writes; reads continue',
    `2. Restore ${DAMAGED} as of ${RESTORE_TIME.toISOString()} into ${RESTORED}`,
    `3. Give ${RESTORED} the protection, recovery, expiry, limits and tags of ${DAMAGED}`,
    `4. Verify all ledgers of ${RESTORED} in one scan`,
    `5. Switch the stage ${stage} to ${RESTORED}`,
    '6. Allow writes (done)',
  ]);
  expect((await createCategory('Before the restore')).status).toBe(201);
});

test('a restore without a terminal asks for --yes', async () => {
  const { code, stderr } = await runCommand(RESTORE_PROGRAM, ARGUMENTS, environment);
  expect([code, stderr]).toEqual([1, 'There is no terminal to ask for confirmation. Add --yes.\n']);
});

test('a restore that is killed while it copies has stopped writes, but not reads', async () => {
  await killAt('2/6');
  // On AWS a limit holds for all versions and aliases of a function, on the emulator only for a call by the unqualified name.
  const FunctionName = `${DAMAGED}-categoriesCreate`;
  const invoked = lambda.send(new InvokeCommand({ FunctionName }));
  await expect(invoked).rejects.toMatchObject({ name: 'TooManyRequestsException' });
  expect((await api.request('GET', '/categories/')).status).toBe(200);
});

test('a restore that is killed while it switches can be completed', async () => {
  await killAt('5/6');
  const { code, stdout, stderr } = await runCommand(
    RESTORE_PROGRAM,
    [...ARGUMENTS, '--yes'],
    environment,
  );
  expect(stderr).toMatch(/^1\/6 .*: done\n2\/6 .*: done\n3\/6 .*: done\n4\/6 .*: done\n/);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${stage} uses ${RESTORED}`)]);
});

test('the restored table is protected and in use', async () => {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: RESTORED }));
  expect(Table).toMatchObject({ TableStatus: 'ACTIVE', DeletionProtectionEnabled: true });
  const { TimeToLiveDescription } = await dynamodb.send(
    new DescribeTimeToLiveCommand({ TableName: RESTORED }),
  );
  expect(TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED' });
  await expectInUse('After the restore');
});

test('commands work on the restored table: a revoked key stops working', async () => {
  const runKeys = async (...args: string[]) =>
    await runCommand('cli/ledger/keys.ts', ['--stage', stage, ...args], environment);
  const created = await runKeys('create', '--name', 'restored', '--ledger', 'restored');
  const client = createHttpClient(inject('apiUrl'), {
    authorization: `Bearer ${created.stdout.trim()}`,
  });
  try {
    const [, id = ''] = /^Key (\w+) /m.exec(created.stderr) ?? [];
    expect((await client.request('GET', '/categories/')).status).toBe(200);
    expect(await runKeys('revoke', id)).toMatchObject({ code: 0 });
    // The first function may have cached the key; this one has not seen it before.
    expect((await client.request('GET', '/summary/?group_by=type')).status).toBe(401);
  } finally {
    await client.close();
  }
});

test('neither a deployment nor a rollback returns to the damaged table', async () => {
  const [firstDeployment = ''] = await listDeployments(deployer);
  const parameters = { ...inject('parameters'), deployDuringRun: inject('runId') };
  await deployStage(deployer, await createTemporaryFolder(), {
    ...parameters,
    logRetentionDays: '30',
  });
  await expectInUse('After a deployment');
  await runServerless(deployer, ['rollback', '--timestamp', firstDeployment], parameters);
  await expectInUse('After a rollback');
});

async function expectInUse(category: string): Promise<void> {
  const damagedItems = await countItems(DAMAGED);
  const restoredItems = await countItems(RESTORED);
  expect((await createCategory(category)).status).toBe(201);
  expect(await countItems(DAMAGED)).toBe(damagedItems);
  expect(await countItems(RESTORED)).toBeGreaterThan(restoredItems);
}

/** Kills the command, with a signal that it cannot handle, once it prints `progress`. */
async function killAt(progress: string): Promise<void> {
  const kill = new AbortController();
  const { child, ended } = startCommand(
    RESTORE_PROGRAM,
    [...ARGUMENTS, '--yes'],
    environment,
    kill.signal,
  );
  let output = '';
  child.stderr?.on('data', (text: string) => {
    output += text;
    if (output.includes(progress)) kill.abort();
  });
  await ended;
  expect(output).toContain(progress);
}

async function countItems(TableName: string): Promise<number> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
  return Table?.ItemCount ?? 0;
}
