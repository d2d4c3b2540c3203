// The address of a deployed stage's API, from its CloudFormation stack.
import { UserError } from '../lib/shared/user-error.ts';
import { isAwsHost } from '../local/settings.ts';
import { httpAddress } from '../processes/program.ts';
import { readStackOutput, stackName } from './deployed-stack.ts';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** @throws UserError */
export async function addressOfStage(stage: string): Promise<string> {
  const url = await readStackOutput(stage, 'HttpApiUrl');
  if (url === undefined) throw new UserError(`The stack ${stackName(stage)} has no HttpApiUrl`);
  const { hostname } = new URL(url);
  const endpoint = process.env.AWS_ENDPOINT_URL;
  if (!endpoint || !isAwsHost(hostname)) return url;
  // An emulator names an address of AWS: the key and the rows would go to an address of another account. A proxy of AWS
  // names the right one, but an emulator on another machine looks the same.
  if (!LOOPBACK.test(new URL(httpAddress(endpoint)).hostname)) {
    throw new UserError(
      `AWS_ENDPOINT_URL is set, but ${url} is an address of AWS. Unset it, or name the address with --url`,
    );
  }
  // The emulator's own, by a path: Node resolves no names below "localhost".
  return `${httpAddress(endpoint)}/_aws/execute-api/${hostname.split('.')[0]}`;
}
