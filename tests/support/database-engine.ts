// Vitest's global setup of tests that need a database: one engine for a project's files.
import type { TestProject } from 'vitest/node';
import { startDynamodbLocal } from '../../local/dynamodb-local.ts';
import { type Database, startEmbeddedEngine } from '../../local/engine.ts';
import { createRunning, type Running } from '../../local/running.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the database of the tests answers. */
    databaseEndpoint: string;
  }
}

/** The engine that TEST_ENGINE names: the embedded one, or `dynamodb-local`. */
export function startTestEngine(running: Running): Promise<Database> {
  return process.env.TEST_ENGINE === 'dynamodb-local'
    ? startDynamodbLocal(running)
    : startEmbeddedEngine(running);
}

export default async function provideDatabase({ provide }: TestProject) {
  const running = createRunning();
  const { endpoint } = await startTestEngine(running);
  provide('databaseEndpoint', endpoint);
  return running.stop;
}
