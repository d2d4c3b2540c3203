// The local API Gateway: serverless-offline on the deployed definition, running the functions as they are bundled there.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { UserError } from '../lib/shared/user-error.ts';
import { type Answer, awaitAnswer } from '../processes/await-answer.ts';
import { claimBuildFolder } from '../processes/build-folder.ts';
import { COMPILE_CACHE, SERVERLESS_HOME } from '../processes/caches.ts';
import type { Child } from '../processes/child-process.ts';
import type { Running } from '../processes/running.ts';
import { runToEnd } from '../processes/tools.ts';
import { localAccess } from './local-access.ts';
import { openPrivateSockets } from './private-sockets.ts';

export interface GatewaySpec {
  readonly databaseEndpoint: string;
  readonly tableName: string;
  /** Folder of the bundled functions. */
  readonly bundles: string;
}

export interface Gateway {
  readonly socketPath: string;
  readonly child: Child;
}

const PROJECT = join(import.meta.dirname, '..');
const BUNDLER = join(import.meta.dirname, 'bundle.ts');
/**
 * By default Node gathers 48 MB of young objects before it collects them, and in a heap that may take the gigabytes of this machine
 * it keeps as much garbage as data. Here it keeps at most a fifth as much, in a heap as large as the memory of the largest deployed
 * function: 1,024 MB.
 */
const SMALL_HEAP = [
  ...['--max-semi-space-size=4', '--max-old-space-size=1024', '--heap-growing-percent=20'],
];
const SERVERLESS = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');

/** Bundles all functions. @returns the folder of the bundles */
export async function bundleFunctions(running: Running): Promise<string> {
  const bundles = join(claimBuildFolder(running), 'bundles');
  await runToEnd(running, { title: 'The bundler', ...nodeProgram(BUNDLER, bundles) });
  return bundles;
}

/**
 * Starts the gateway and waits until the API answers through it, database included.
 * @throws UserError when it does not
 */
export async function startGateway(running: Running, spec: GatewaySpec): Promise<Gateway> {
  const environment = gatewayEnvironment(process.env, spec);
  const socket = await openPrivateSockets(running);
  const socketPath = socket('gateway');
  const log = createGatewayLog((line) => console.log(line));
  const child = running.startProgram({
    ...nodeProgram(...SMALL_HEAP, SERVERLESS, ...gatewayArguments(socketPath, socket('lambda'))),
    environment,
    onLine: log.read,
  });
  const answer = await awaitAnswer({ socketPath, path: '/categories' }, child);
  if (!isServing(answer)) {
    // Its last lines may come after its end.
    await child.stop();
    throw new UserError(describeFailure(answer, log));
  }
  log.show();
  return { socketPath, child };
}

function nodeProgram(...args: readonly string[]) {
  return { command: process.execPath, args, folder: PROJECT };
}

function gatewayArguments(gateway: string, lambda: string): string[] {
  return [
    ...['offline', 'start', '--stage', 'local', '--noPrependStageInUrl', '--noSponsor'],
    // The path of a socket instead of a port, which would be open to every page and program of this machine.
    // Nothing here uses the Lambda server, but it is always started.
    ...['--httpPort', gateway, '--lambdaPort', lambda],
    // In one process the handlers answer as fast as in workers, without a start for each concurrent call.
    '--useInProcess',
    // Its timer holds each response until the time limit of the function, which has a deadline of its own.
    '--noTimeout',
    // Other programs on localhost set cookies. The API reads none, and API Gateway refuses none.
    '--disableCookieValidation',
  ];
}

/**
 * Requires the envelope, because the framework reports a function that it cannot load with status 200, too. A service that
 * requires a key answers 401.
 */
function isServing(answer: Answer | undefined): boolean {
  try {
    const { success, error } = JSON.parse(answer?.body ?? '');
    return answer?.status === 401 ? error === 'unauthenticated' : success === true;
  } catch {
    return false;
  }
}

/** For the gateway and the handlers in it: local credentials, and none of the developer's AWS accounts. */
function gatewayEnvironment(inherited: NodeJS.ProcessEnv, spec: GatewaySpec): NodeJS.ProcessEnv {
  const { region, accessKeyId, secretAccessKey } = localAccess(inherited);
  const neutral = Object.entries(inherited).filter(([name]) => !name.startsWith('AWS_'));
  return {
    ...Object.fromEntries(neutral),
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    DYNAMODB_ENDPOINT: spec.databaseEndpoint,
    TABLE_NAME: spec.tableName,
    AUTH: inherited.AUTH || 'open',
    LOCAL_BUNDLES: spec.bundles,
    // The C library keeps freed memory in an arena for each thread, and below the last block in use. That doubled the gateway's memory.
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    HOME: SERVERLESS_HOME,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    SLS_NOTIFICATIONS_MODE: 'off',
  };
}

function describeFailure(answer: Answer | undefined, log: GatewayLog): string {
  if (log.lastError().includes("'provider.region'")) {
    const { region } = localAccess(process.env);
    return `AWS_REGION must be a region of AWS, such as eu-west-1, or unset, not "${region}"`;
  }
  const outcome = answer === undefined ? 'ended' : `answered ${answer.status}`;
  return `The local gateway ${outcome} at the start: ${log.lastError()}`;
}

interface GatewayLog {
  /** Takes a line of the gateway's output. */
  read(line: string): void;
  /** From now on, shows what the handlers log. */
  show(): void;
  /** The line that most likely names why the gateway failed. */
  lastError(): string;
}

// Lines that the framework prints for each request: blank ones, the route, and the function's duration.
const FRAMEWORK = /^\s*$|^\(λ: | \(λ: \w+\)$/;
const ERROR = /error|✖|cannot/i;
const HEADING = /^Error:$/;
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

function createGatewayLog(print: (line: string) => void): GatewayLog {
  let isShown = false;
  let lastLine = '';
  let lastError = '';
  return {
    read(coloured) {
      const line = coloured.replace(COLOURS, '');
      if (FRAMEWORK.test(line)) return;
      if (isShown) print(line);
      // The framework's own errors are a heading with the sentence on the next line.
      if (ERROR.test(line) || HEADING.test(lastLine)) lastError = line.trim();
      lastLine = line.trim();
    },
    show() {
      isShown = true;
    },
    lastError: () => lastError || lastLine,
  };
}
