// Reads from a pause what the stage waits for, and rethrows any other failure.
import { Paused } from '../../../lib/migration/runs/journal.ts';

export function takeWaiting(error: unknown): Paused['waiting'] {
  if (error instanceof Paused) return error.waiting;
  throw error;
}
