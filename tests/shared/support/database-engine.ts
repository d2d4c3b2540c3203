// Vitest's global setup of tests that need a database: starts one engine for all test files of a project.
import type { TestProject } from 'vitest/node';
import {
  type Database,
  dynamodbLocal,
  embeddedEngine,
  startOnPort,
} from '../../../local/engine.ts';
import { createResources, type Resources } from '../../../processes/resources.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoint of the tests' database. */
    databaseEndpoint: string;
  }
}

/** Starts DynamoDB Local if TEST_ENGINE names it, else the engine of `npm start`. It listens on a port, because proxies need one. */
export function startTestEngine(resources: Resources): Promise<Database> {
  return startOnPort(resources, usesDynamodbLocal() ? dynamodbLocal : embeddedEngine);
}

/** For tests that count capacity units: only the embedded engine charges the writes of a transaction as AWS does. */
export function usesDynamodbLocal(): boolean {
  return (
    process.env.TEST_ENGINE === 'dynamodb-local' || embeddedEngine.whyUnavailable() !== undefined
  );
}

export default async function provideDatabase({ provide }: TestProject) {
  const resources = createResources();
  const { endpoint } = await startTestEngine(resources);
  provide('databaseEndpoint', endpoint);
  return resources.stop;
}
