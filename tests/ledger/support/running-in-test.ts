// Starts services that stop at the end of the test.
import { onTestFinished } from 'vitest';
import { createRunning, type Running } from '../../../processes/running.ts';
import { type ServiceSpec, type StartedService, startService } from './running-service.ts';

export function createRunningInTest(): Running {
  const running = createRunning();
  onTestFinished(running.stop);
  return running;
}

export async function startInTest(spec?: ServiceSpec): Promise<StartedService> {
  return await startService(createRunningInTest(), spec);
}
