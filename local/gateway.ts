// The local API Gateway: serverless-offline, with the same service definition and the same function bundles as a deployment.
import { join } from 'node:path';
import { firstLine, UserError } from '../lib/shared/user-error.ts';
import { awaitResponse, type HttpResponse } from '../processes/await-response.ts';
import { createBuildFolder } from '../processes/build-folder.ts';
import { COMPILE_CACHE, SERVERLESS_HOME } from '../processes/caches.ts';
import type { Child } from '../processes/child-process.ts';
import type { Resources } from '../processes/resources.ts';
import { runToEnd } from '../processes/tools.ts';
import { readLocalAccess } from './local-access.ts';
import { createSocketPaths } from './private-sockets.ts';

export interface GatewaySpec {
  readonly databaseEndpoint: string;
  readonly tableName: string;
}

export interface Gateway {
  readonly socketPath: string;
  readonly child: Child;
}

const PROJECT = join(import.meta.dirname, '..');
/** Keeps the gateway's memory small. By default, Node lets young objects grow to 48 MB before it collects garbage. */
const SMALL_HEAP = ['--max-semi-space-size=4', '--max-old-space-size=1024'];

/**
 * Bundles the functions and resolves the definition.
 * @returns the folder that contains both
 * @throws UserError if a setting makes the definition invalid
 */
export async function buildGateway(resources: Resources, spec: GatewaySpec): Promise<string> {
  const folder = createBuildFolder(resources);
  try {
    await runToEnd(resources, {
      title: 'The bundler',
      ...createScriptCommand(spec, 'build.ts', folder),
    });
  } catch (error) {
    if (!firstLine(error).includes("'provider.region'")) throw error;
    const { region } = readLocalAccess(process.env);
    throw new UserError(
      `AWS_REGION must be an AWS region, such as eu-west-1, or unset, not "${region}"`,
    );
  }
  return folder;
}

/**
 * Starts the gateway, and waits until a request that reads the database succeeds.
 * @param buildFolder the folder that `buildGateway` returned
 * @throws UserError if the API does not respond
 */
export async function startGateway(
  resources: Resources,
  spec: GatewaySpec,
  buildFolder: string,
): Promise<Gateway> {
  const nameSocket = await createSocketPaths(resources);
  const socketPath = nameSocket('gateway');
  const log = createGatewayLog((line) => console.log(line));
  const { args, ...offlineCommand } = createScriptCommand(
    spec,
    'offline.ts',
    buildFolder,
    socketPath,
    nameSocket('lambda'),
  );
  const child = resources.startProgram({
    ...offlineCommand,
    args: [...SMALL_HEAP, ...args],
    onLine: log.add,
  });
  const response = await awaitResponse({ socketPath, path: '/categories' }, child);
  if (!isServing(response)) {
    // The last lines of the output may arrive after the program has ended.
    await child.stop();
    const outcome = response === undefined ? 'ended' : `answered ${response.status}`;
    throw new UserError(`The local gateway ${outcome} at startup: ${log.lastError()}`);
  }
  log.show();
  return { socketPath, child };
}

function createScriptCommand(spec: GatewaySpec, script: string, ...args: readonly string[]) {
  return {
    command: process.execPath,
    args: [join(import.meta.dirname, script), ...args],
    folder: PROJECT,
    environment: createEnvironment(process.env, spec),
  };
}

/**
 * Checks the body, not only the status: the framework returns 200 even for a function that it cannot load. A service that
 * requires an API key returns 401.
 */
function isServing(response: HttpResponse | undefined): boolean {
  try {
    const { success, error } = JSON.parse(response?.body ?? '');
    return response?.status === 401 ? error === 'unauthenticated' : success === true;
  } catch {
    return false;
  }
}

/** Creates the environment of the gateway and its functions. They must not have access to the developer's AWS accounts. */
function createEnvironment(inherited: NodeJS.ProcessEnv, spec: GatewaySpec): NodeJS.ProcessEnv {
  const { region, accessKeyId, secretAccessKey } = readLocalAccess(inherited);
  const otherVariables = Object.entries(inherited).filter(([name]) => !name.startsWith('AWS_'));
  return {
    ...Object.fromEntries(otherVariables),
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    DYNAMODB_ENDPOINT: spec.databaseEndpoint,
    TABLE_NAME: spec.tableName,
    AUTH: inherited.AUTH || 'open',
    // By default, the C library keeps an arena for each thread, and does not return freed memory below the last block in use.
    // These defaults doubled the gateway's memory.
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    HOME: SERVERLESS_HOME,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    SLS_NOTIFICATIONS_MODE: 'off',
  };
}

interface GatewayLog {
  /** Adds a line of the gateway's output. */
  add(line: string): void;
  /** Prints all later lines. */
  show(): void;
  /** Returns the line that most likely says why the gateway failed. */
  lastError(): string;
}

const ERROR = /error|✖|cannot/i;

function createGatewayLog(print: (line: string) => void): GatewayLog {
  let isShown = false;
  let lastLine = '';
  let lastError = '';
  return {
    add(line) {
      if (line.trim() === '') return;
      if (isShown) print(line);
      if (ERROR.test(line)) lastError = line.trim();
      lastLine = line.trim();
    },
    show() {
      isShown = true;
    },
    lastError: () => lastError || lastLine,
  };
}
