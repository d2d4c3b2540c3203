// Starts services that stop at the end of the test.
import { onTestFinished } from 'vitest';
import { createResources, type Resources } from '../../../processes/resources.ts';
import { type ServiceSpec, type StartedService, startService } from './running-service.ts';

export function createResourcesInTest(): Resources {
  const resources = createResources();
  onTestFinished(resources.stop);
  return resources;
}

export async function startInTest(spec?: ServiceSpec): Promise<StartedService> {
  return await startService(createResourcesInTest(), spec);
}
