// What merely takes room: once users are let in, no step is kept from its end for it.
import type { StepContext } from '../runs/step.ts';

/** @param message says what is left, when the work fails */
export async function tidyUp(
  { services, run }: StepContext,
  message: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    services.log({ level: 'WARN', message, runId: run.runId, why: String(error) });
  }
}
