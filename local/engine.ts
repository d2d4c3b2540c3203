// The embedded DynamoDB: one native program, in memory or on one file.
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import getPort from 'get-port';
import { awaitAnswer } from './await-answer.ts';
import type { Child } from './child-process.ts';
import type { Running } from './running.ts';
import { StartError } from './start-error.ts';

export interface Database {
  readonly endpoint: string;
  /** The program that serves it, where it is one of ours. */
  readonly child?: Child;
}

const ENGINE_PACKAGE = '@dynoxide/linux-x64';
const ATTEMPTS = 5;

/**
 * Starts the engine on a port of its own and waits until it answers.
 * @param databaseFile where the data is kept; without it, in memory
 * @throws StartError when the engine is not there or does not start
 */
export async function startEmbeddedEngine(
  running: Running,
  databaseFile?: string,
): Promise<Database> {
  const command = findEngine();
  let lastWord = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const port = await getPort();
    const child = running.startProgram({
      command,
      args: engineArguments(port, databaseFile),
      onLine: (line) => {
        lastWord = line || lastWord;
      },
    });
    const endpoint = `http://127.0.0.1:${port}`;
    if (await awaitAnswer(endpoint, child)) return { endpoint, child };
    await child.stop();
    // Somebody took the port between our look and the engine's: try the next one.
    if (!/in use/i.test(lastWord)) break;
  }
  throw new StartError(`The embedded database did not start: ${lastWord}`);
}

function engineArguments(port: number, databaseFile: string | undefined): string[] {
  const file = databaseFile === undefined ? [] : ['--db-path', databaseFile];
  return ['serve', '--host', '127.0.0.1', '--port', String(port), ...file];
}

/** @throws StartError where it cannot be run */
export function findEngine(): string {
  const file = enginePath();
  try {
    accessSync(file, constants.X_OK);
  } catch {
    throw new StartError(`The embedded database ${file} cannot be run; ${WAYS_OUT}`);
  }
  return file;
}

function enginePath(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${ENGINE_PACKAGE}/package.json`);
    return join(dirname(manifest), 'dynoxide');
  } catch {
    throw new StartError(
      `The embedded database (package ${ENGINE_PACKAGE}) is not installed; ${WAYS_OUT}`,
    );
  }
}

const WAYS_OUT =
  'run "npm ci" on Linux x64, or point DYNAMODB_ENDPOINT at a DynamoDB that runs, such as the image amazon/dynamodb-local';
