// The local API Gateway: serverless-offline on the deployed definition, running the deployed bundles.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { awaitAnswer } from './await-answer.ts';
import type { Child } from './child-process.ts';
import { createGatewayLog } from './gateway-log.ts';
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
  // The port is ours alone, so a folder of its name is too; what a killed start left is used anew.
  const buildFolder = `.esbuild/local-${spec.port}`;
  running.whenStopping(() => rmSync(join(PROJECT, buildFolder), { recursive: true, force: true }));
  const log = createGatewayLog((line) => console.log(line));
  const child = running.startProgram({
    command: process.execPath,
    args: [SERVERLESS, ...gatewayArguments(spec.port)],
    folder: PROJECT,
    environment: gatewayEnvironment(process.env, spec, buildFolder),
    onLine: log.hear,
  });
  const status = await awaitAnswer(`http://127.0.0.1:${spec.port}/categories`, child);
  if (status !== 200) throw new StartError(refusal(status, spec.port, log));
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
  ];
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

function refusal(
  status: number | undefined,
  port: number,
  log: { readonly lastError: () => string },
): string {
  if (/EADDRINUSE/.test(log.lastError())) {
    return `Port ${port} is in use; choose another one with PORT`;
  }
  const outcome = status === undefined ? 'ended' : `answered ${status}`;
  return `The local gateway ${outcome} at the start: ${log.lastError()}`;
}
