// Vitest's global setup of the HTTP tests: starts the service in its own process, on the engine under test.
import type { TestProject } from 'vitest/node';
import { createResources } from '../../../processes/resources.ts';
import { startTestEngine } from '../../shared/support/database-engine.ts';
import { startService } from './running-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the running API, without a trailing slash. */
    apiUrl: string;
  }
}

export default async function provideApi({ provide }: TestProject) {
  const resources = createResources();
  try {
    const { endpoint } = await startTestEngine(resources);
    const environment = { DYNAMODB_ENDPOINT: endpoint };
    const { ready } = await startService(resources, { environment });
    provide('apiUrl', await ready);
    provide('databaseEndpoint', endpoint);
  } catch (error) {
    await resources.stop();
    throw error;
  }
  return resources.stop;
}
