// Returns what a paused stage waits for, and rethrows any other error.
import { Paused } from '../../../lib/migration/runs/journal.ts';

export function takeWaiting(error: unknown): Paused['waiting'] {
  if (error instanceof Paused) return error.waiting;
  throw error;
}
