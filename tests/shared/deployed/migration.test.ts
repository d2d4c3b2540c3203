// The deployed state machine migrates to the new version, and the command line rolls back. Both use the stage's
// functions with their IAM roles, and the AWS services that those functions need.
import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  DescribeExecutionCommand,
  ListStateMachinesCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { beforeAll, expect, inject, test } from 'vitest';
import { clientOptions, runServerless } from '../../../local/emulator/emulated-stage.ts';
import { runMigrate } from '../../migration/support/command-line.ts';
import { listDeployments } from './deployments.ts';

const { stage, environment } = inject('operator');
const deployer = inject('deployer');
const runId = inject('runId');
const states = new SFNClient(clientOptions(environment));
const lambda = new LambdaClient(clientOptions(environment));
let executionArn: string | undefined;

async function migrate(...args: string[]): Promise<string> {
  const result = await runMigrate(environment, ...args, '--stage', stage);
  expect(result.code, result.stderr).toBe(0);
  return result.stdout;
}

/** Invokes a function directly, because the command line takes longer. */
async function invoke(name: string, payload: object = {}) {
  const FunctionName = `finance-ledger-${stage}-migration${name}`;
  const Payload = JSON.stringify({ runId, ...payload });
  const response = await lambda.send(new InvokeCommand({ FunctionName, Payload }));
  return JSON.parse(Buffer.from(response.Payload ?? []).toString());
}

/** Waits until the run is in the phase `phase`, and fails if the execution ends first. */
async function awaitPhase(phase: string): Promise<void> {
  for (;;) {
    const { phase: current } = await invoke('Status');
    if (current === phase) return;
    const execution = await describeExecution();
    expect([current, execution]).toEqual([current, expect.objectContaining({ status: 'RUNNING' })]);
    await delay(500);
  }
}

async function startExecution(): Promise<void> {
  const { stateMachines = [] } = await states.send(new ListStateMachinesCommand({}));
  const { stateMachineArn } = stateMachines[0] ?? {};
  const input = JSON.stringify({ runId });
  ({ executionArn } = await states.send(new StartExecutionCommand({ stateMachineArn, input })));
}

async function describeExecution() {
  const { status, error, cause } = await states.send(
    new DescribeExecutionCommand({ executionArn }),
  );
  return { status, error, cause };
}

async function readCollection(): Promise<string | undefined> {
  const Name = '/emulated/memory-collection';
  const ssm = new SSMClient(clientOptions(inject('deployed').environment));
  return (await ssm.send(new GetParameterCommand({ Name }))).Parameter?.Value;
}

beforeAll(async () => {
  await migrate(
    ...['preflight', '--run', runId, '--source', 'memories', '--accept', 'no-graph'],
    ...['--free-gb', '1', '--drain-seconds', '5', '--execute'],
  );
  await startExecution();
});

test('the state machine prepares the run and waits for the approval', async () => {
  await awaitPhase('copied');
  expect(await readCollection()).toBe('memories');
});

test('during the run, the stage can be neither deployed, nor rolled back, nor removed', async () => {
  const deploy = ['deploy', '--package', inject('packageFolder')];
  const rollback = ['rollback', '--timestamp', (await listDeployments(deployer))[0] ?? ''];
  for (const command of [deploy, rollback]) {
    await expect(runServerless(deployer, command, inject('parameters'))).rejects.toThrow(
      `The new template changes functions while the run ${runId} is active (phase copied).`,
    );
  }
  await expect(runServerless(inject('remover'), ['remove'])).rejects.toThrow(
    'The removal deletes the functions',
  );
});

test('after the approval, the state machine takes the run to the new version, even if it was restarted', async () => {
  // The execution is stopped first: the emulator hides the names of errors, so a state machine that found the lock held
  // would roll back.
  await states.send(new StopExecutionCommand({ executionArn }));
  await expect.poll(describeExecution).toMatchObject({ status: 'ABORTED' });
  const { approval } = await invoke('Status');
  const approvalInput = { approvedDigest: approval.digest, approvedBy: 'ada' };
  expect(await invoke('Cutover', { execute: true, ...approvalInput })).toMatchObject({
    phase: 'switching',
  });
  await startExecution();
  await awaitPhase('live');
  await expect.poll(describeExecution).toMatchObject({ status: 'SUCCEEDED' });
  expect(await readCollection()).toBe(`memories_v3_${runId}`);
});

test('while the new version is live, a changed setting of the migration is refused before packaging', async () => {
  const parameters = { ...inject('parameters'), migrationWebhookUrl: 'https://another.example' };
  const output = await runServerless(deployer, ['deploy', '--verbose'], parameters).catch(String);
  const advice = `Finish the run, or add --param="deployDuringRun=${runId}".`;
  expect(output).toContain(
    `Refused. The new template changes migrationWebhookUrl while the run ${runId} is active (phase live). ${advice}`,
  );
  expect(output).not.toContain('createDeploymentArtifacts');
});

test('the command line rolls back to the old version', async () => {
  const confirmation = ['--run', runId, '--execute', '--yes'];
  await migrate('rollback', ...confirmation, '--acknowledged-loss', '0');
  expect((await invoke('Status')).phase).toBe('copied');
  expect(await readCollection()).not.toBe(`memories_v3_${runId}`);
});

test('the command line aborts the run', async () => {
  await migrate('abort', '--run', runId, '--execute', '--yes');
  expect((await invoke('Status')).phase).toBe('aborted');
});
