// The service deployed on the emulator of AWS, with the commands that deploy it to an account.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { StartError } from './start-error.ts';

const PROJECT = join(import.meta.dirname, '..');
const SERVERLESS = join(PROJECT, 'node_modules/serverless/bin/serverless.js');

export interface EmulatedStage {
  readonly stage: string;
  /** Names the emulator to every AWS client. */
  readonly environment: Readonly<Record<string, string>>;
}

/** @throws StartError with the output of the command */
export async function runServerless(
  { stage, environment }: EmulatedStage,
  command: readonly string[],
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const given = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
  const args = [SERVERLESS, ...command, '--stage', stage, ...given];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: PROJECT,
      env: {
        PATH: process.env.PATH,
        TMPDIR: process.env.TMPDIR,
        HOME: '/nonexistent',
        ...environment,
      },
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new StartError(`serverless ${command.join(' ')} failed:\n${stdout}${stderr}`);
  }
}

/** The gateway's id in the stack that was deployed. */
export async function apiIdOf({ stage, environment }: EmulatedStage): Promise<string> {
  const client = new CloudFormationClient(clientOptions(environment));
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackOf(stage) }));
  const outputs = Stacks?.[0]?.Outputs ?? [];
  const apiId = outputs.find(({ OutputKey }) => OutputKey === 'HttpApiId')?.OutputValue;
  if (apiId === undefined) throw new StartError(`The stack ${stackOf(stage)} has no HttpApiId`);
  return apiId;
}

/** Where the deployed API answers, without a slash at its end. */
export async function addressOf(deployed: EmulatedStage): Promise<string> {
  const { port } = new URL(deployed.environment.AWS_ENDPOINT_URL ?? '');
  return `http://${await apiIdOf(deployed)}.execute-api.localhost:${port}`;
}

export function stackOf(stage: string): string {
  return `finance-ledger-${stage}`;
}

/** For a client of AWS in this process. */
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
