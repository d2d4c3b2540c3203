// Vitest's global setup of tests that need a database: one engine for a project's files.
import type { TestProject } from 'vitest/node';
import {
  type Database,
  dynamodbLocal,
  embeddedEngine,
  startOnPort,
} from '../../../local/engine.ts';
import { createRunning, type Running } from '../../../processes/running.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoint of the tests' database. */
    databaseEndpoint: string;
  }
}

/** DynamoDB Local where TEST_ENGINE names it; else the engine that `npm start` would use, on a port: proxies need one. */
export function startTestEngine(running: Running): Promise<Database> {
  return startOnPort(running, isOnDynamodbLocal() ? dynamodbLocal : embeddedEngine);
}

/** It charges the writes of a transaction in another way than AWS does; the embedded engine charges as AWS does. */
export function isOnDynamodbLocal(): boolean {
  return process.env.TEST_ENGINE === 'dynamodb-local' || embeddedEngine.obstacle() !== undefined;
}

export default async function provideDatabase({ provide }: TestProject) {
  const running = createRunning();
  const { endpoint } = await startTestEngine(running);
  provide('databaseEndpoint', endpoint);
  return running.stop;
}
