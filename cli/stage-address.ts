// Finds the address of a deployed stage's API in the CloudFormation stack of the stage.
import { UserError } from '../lib/shared/user-error.ts';
import { isAwsHost } from '../local/settings.ts';
import { parseHttpAddress } from '../processes/program.ts';
import { readStackOutput, stackName } from './deployed-stack.ts';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Returns the address of the API. @throws UserError if the stack names none, or AWS_ENDPOINT_URL contradicts the address */
export async function readStageAddress(stage: string): Promise<string> {
  const url = await readStackOutput(stage, 'HttpApiUrl');
  if (url === undefined) throw new UserError(`The stack ${stackName(stage)} has no HttpApiUrl`);
  const { hostname } = new URL(url);
  const endpoint = process.env.AWS_ENDPOINT_URL;
  if (!endpoint || !isAwsHost(hostname)) return url;
  // An emulator's stack contains an AWS address, so the key and the rows would be sent to another account. With a proxy in front
  // of AWS the address is right, but a proxy cannot be distinguished from an emulator on another machine.
  if (!LOOPBACK.test(new URL(parseHttpAddress(endpoint)).hostname)) {
    throw new UserError(
      `AWS_ENDPOINT_URL is set, but ${url} is an AWS address. Unset it, or name the address with --url`,
    );
  }
  // Uses a path on the emulator, because Node does not resolve subdomains of "localhost".
  return `${parseHttpAddress(endpoint)}/_aws/execute-api/${hostname.split('.')[0]}`;
}
