// The local API Gateway: serverless-offline on the deployed definition, running the deployed bundles.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Answer, awaitAnswer } from './await-answer.ts';
import { claimBuildFolder } from './build-folder.ts';
import type { Child } from './child-process.ts';
import { createGatewayLog, type GatewayLog } from './gateway-log.ts';
import { localAccess } from './local-access.ts';
import type { Running } from './running.ts';
import { StartError } from './start-error.ts';

export interface GatewaySpec {
  readonly port: number;
  readonly databaseEndpoint: string;
  readonly tableName: string;
}

const PROJECT = join(import.meta.dirname, '..');
const SERVERLESS = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');

/**
 * Starts the gateway and waits until the API answers through it, database included.
 * @throws StartError when it does not
 */
export async function startGateway(running: Running, spec: GatewaySpec): Promise<Child> {
  const buildFolder = claimBuildFolder(running);
  const log = createGatewayLog((line) => console.log(line));
  const child = running.startProgram({
    command: process.execPath,
    args: [SERVERLESS, ...gatewayArguments(spec.port)],
    folder: PROJECT,
    environment: gatewayEnvironment(process.env, spec, buildFolder),
    onLine: log.hear,
  });
  // Until it says that it has the port, an answer there would be another program's.
  await Promise.race([log.listening, child.ended]);
  const answer = await awaitAnswer(`http://127.0.0.1:${spec.port}/categories`, child);
  if (!isSuccess(answer)) {
    // Its last lines may come after its end.
    await child.stop();
    throw new StartError(refusal(answer, spec.port, log));
  }
  log.openUp();
  return child;
}

function gatewayArguments(port: number): string[] {
  return [
    ...['offline', 'start', '--stage', 'local', '--host', '127.0.0.1'],
    ...['--httpPort', String(port), '--noPrependStageInUrl', '--noSponsor'],
    // Port 0: whichever is free. Nothing here calls functions by that door, but it is always opened.
    ...['--lambdaPort', '0'],
    // In one process the handlers answer as fast as in workers, without a start for each call in flight.
    '--useInProcess',
    // Cookies are other programs' on localhost: the API reads none, and API Gateway refuses none.
    '--disableCookieValidation',
  ];
}

/** In the envelope: the framework reports a function that it cannot load with status 200, too. */
function isSuccess(answer: Answer | undefined): boolean {
  try {
    return answer?.status === 200 && JSON.parse(answer.body).success === true;
  } catch {
    return false;
  }
}

/** What the gateway and the handlers in it see: ours, and nothing of the developer's AWS accounts. */
function gatewayEnvironment(
  inherited: NodeJS.ProcessEnv,
  spec: GatewaySpec,
  buildFolder: string,
): NodeJS.ProcessEnv {
  const { region, accessKeyId, secretAccessKey } = localAccess(inherited);
  const neutral = Object.entries(inherited).filter(([name]) => !name.startsWith('AWS_'));
  return {
    ...Object.fromEntries(neutral),
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    DYNAMODB_ENDPOINT: spec.databaseEndpoint,
    TABLE_NAME: spec.tableName,
    ALLOWED_ORIGINS: inherited.ALLOWED_ORIGINS ?? `http://localhost:${spec.port}`,
    BUILD_FOLDER: buildFolder,
    // The framework keeps a cache and settings in the home folder: let that be the project's.
    HOME: join(PROJECT, '.local', 'home'),
    // The framework is large: from the second time on it starts in about half the time.
    NODE_COMPILE_CACHE: join(PROJECT, '.local', 'compile-cache'),
    SLS_NOTIFICATIONS_MODE: 'off',
  };
}

function refusal(answer: Answer | undefined, port: number, log: GatewayLog): string {
  if (log.portTaken()) {
    return `Port ${port} is in use; choose another one with PORT`;
  }
  if (log.lastError().includes("'provider.region'")) {
    const { region } = localAccess(process.env);
    return `AWS_REGION must be a region of AWS, such as eu-west-1, or unset, not "${region}"`;
  }
  const outcome = answer === undefined ? 'ended' : `answered ${answer.status}`;
  return `The local gateway ${outcome} at the start: ${log.lastError()}`;
}
