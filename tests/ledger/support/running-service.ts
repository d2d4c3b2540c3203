// The service as `npm start` runs it, in its own process.
import { join } from 'node:path';
import { startDatabase } from '../../../local/engine.ts';
import { readLocalAccess } from '../../../local/local-access.ts';
import type { Child } from '../../../processes/child-process.ts';
import { findFreePort } from '../../../processes/free-port.ts';
import { createResources, type Resources } from '../../../processes/resources.ts';

export const PROJECT = join(import.meta.dirname, '../../..');

export interface StartedService {
  readonly child: Child;
  readonly port: number;
  /** Every line that the service has printed so far */
  readonly lines: readonly string[];
  /** Resolves to the address when the service is ready; rejects with its lines if it ends first. */
  readonly ready: Promise<string>;
}

export interface ServiceSpec {
  /** Environment variables. By default PORT is a free port, and DATA_DIR is `memory`. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly command?: readonly [string, ...string[]];
  readonly folder?: string;
}

export async function startService(
  resources: Resources,
  { environment = {}, command = [process.execPath, 'local/start.ts'], folder }: ServiceSpec = {},
): Promise<StartedService> {
  const port = Number(environment.PORT ?? (await findFreePort()));
  const lines: string[] = [];
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  const [program, ...args] = command;
  const child = resources.startProgram({
    command: program,
    args,
    folder: folder ?? PROJECT,
    environment: { ...inheritVariables(), DATA_DIR: 'memory', ...environment, PORT: String(port) },
    graceMilliseconds: 5000,
    onLine: (line) => {
      lines.push(line);
      const url = /^ready (http:\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    },
  });
  child.ended.then((how) => reject(new Error([`The service ${how}`, ...lines].join('\n'))));
  // A caller that does not wait for `ready` must not get an unhandled rejection.
  ready.catch(() => {});
  return { child, port, lines, ready };
}

/**
 * Starts a database that several services share and that this process can reach.
 * @returns the variables that point a service to the database
 */
export async function startSharedDatabase(resources: Resources, tableName: string) {
  // The database keeps separate tables for every access key and region.
  const { region, accessKeyId, secretAccessKey } = readLocalAccess({});
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  });
  const { endpoint } = await startDatabase(resources);
  return { TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint };
}

/** Starts a service and waits until it is ready. */
export async function openService(environment: NodeJS.ProcessEnv = {}) {
  const resources = createResources();
  try {
    const service = await startService(resources, { environment });
    return { ...service, url: await service.ready, stop: resources.stop };
  } catch (error) {
    await resources.stop();
    throw error;
  }
}

// Drops the variables that the test runner and npm scripts set, so that the service starts as if from a terminal.
function inheritVariables(): NodeJS.ProcessEnv {
  const foreign = /^(npm_|VITEST|AWS_|NODE_ENV$|NODE_OPTIONS$|TABLE_NAME$|DYNAMODB_ENDPOINT$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
