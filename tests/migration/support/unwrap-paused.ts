// Returns what a paused stage is waiting for, and rethrows any other error.
import { Paused } from '../../../lib/migration/runs/journal.ts';

export function unwrapPaused(error: unknown): Paused['waiting'] {
  if (error instanceof Paused) return error.waiting;
  throw error;
}
