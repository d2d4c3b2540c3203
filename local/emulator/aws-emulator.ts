// Starts MiniStack, an AWS emulator that deploys templates, runs functions and enforces the actions of IAM roles.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../../lib/shared/user-error.ts';
import { awaitResponse } from '../../processes/await-response.ts';
import { findFreePort } from '../../processes/free-port.ts';
import { preparePython, whyPythonUnavailable } from '../../processes/python-tools.ts';
import type { Resources } from '../../processes/resources.ts';
import type { Service, StartedService } from '../../processes/service.ts';

const REQUIREMENTS = join(import.meta.dirname, 'ministack.txt');
// DynamoDB's numbers have 38 digits. By default, Python's decimals have only 28.
const PROGRAM = `
import decimal, runpy
decimal.DefaultContext.prec = 38
decimal.setcontext(decimal.DefaultContext)
runpy.run_module('ministack', run_name='__main__', alter_sys=True)
`;
// The emulator takes the credentials in its own environment for those of the account's root user.
const ACCESS = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'emulated',
  AWS_SECRET_ACCESS_KEY: 'emulated',
};

export interface EmulatorOptions {
  /** A Wait state of a state machine waits for this fraction of its declared time. */
  readonly waitScale?: number;
}

export const awsEmulator: Service = {
  title: 'an AWS emulator (MiniStack)',
  whyUnavailable: whyPythonUnavailable,
  start: startAwsEmulator,
};

/** Starts the emulator, and waits until it answers. @throws UserError if it does not start */
export async function startAwsEmulator(
  resources: Resources,
  { waitScale = 1 }: EmulatorOptions = {},
): Promise<StartedService> {
  const python = await preparePython(resources, REQUIREMENTS);
  const folder = await resources.createTemporaryFolder('aws-emulator-');
  // The emulator's worker is CommonJS. A package.json in a parent folder could declare ES modules.
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }');
  const port = await findFreePort();
  let lastLine = '';
  const child = resources.startProgram({
    command: python,
    args: ['-c', PROGRAM],
    folder,
    // Functions inherit this environment, so it takes nothing but the PATH from the shell.
    environment: {
      ...ACCESS,
      PATH: process.env.PATH,
      HOME: folder,
      TMPDIR: folder,
      AUTH: 'true',
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      MINISTACK_REGION: ACCESS.AWS_REGION,
      SFN_WAIT_SCALE: String(waitScale),
    },
    graceMilliseconds: 5_000,
    onLine: (line) => {
      lastLine = line || lastLine;
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  if (!(await awaitResponse(`${endpoint}/_ministack/health`, child))) {
    throw new UserError(`The AWS emulator did not start: ${lastLine}`);
  }
  return { environment: { ...ACCESS, AWS_ENDPOINT_URL: endpoint }, ended: child.ended };
}
