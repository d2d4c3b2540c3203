// How long the command line waits for a store that does not answer: a person would rather be told than wait as long
// as a function does.
import type { RetryPolicy } from '../../lib/retry.ts';

const PATIENCE_SECONDS = 30;
const TOLD_EVERY_MS = 5_000;

export function tellingPace(pace: RetryPolicy, tell: (line: string) => void): RetryPolicy {
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    ...pace,
    deadlineMs: PATIENCE_SECONDS * 1_000,
    onRetry(error) {
      const now = pace.now();
      if (now - toldAt < TOLD_EVERY_MS) return;
      toldAt = now;
      const why = error instanceof Error ? error.message : String(error);
      tell(`waiting for the vector store of QDRANT_URL, up to ${PATIENCE_SECONDS} s (${why})`);
    },
  };
}
