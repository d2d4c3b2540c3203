// What a paused stage waits for; any other failure is one.
import { Paused } from '../../../lib/migration/runs/step.ts';

export function takeWaiting(error: unknown): Paused['waiting'] {
  if (error instanceof Paused) return error.waiting;
  throw error;
}
