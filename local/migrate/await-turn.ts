// A step waits for its turn: as long as one that died holds its place. One that is at work for longer is not waited for.
import { RetryableFailure } from '../../lib/migration/refusals.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy, retry } from '../../lib/retry.ts';

const PATIENCE_SECONDS = 130;
const TOLD_EVERY_MS = 30_000;

/** @throws as the step does, and RetryableStepRunning where the other one is still at work */
export async function awaitTurn<Result>(
  take: () => Promise<Result>,
  tell: (line: string) => void,
  clocked: Pick<RetryPolicy, 'now' | 'random' | 'sleep'> = DEFAULT_RETRY_POLICY,
): Promise<Result> {
  const { now } = clocked;
  let toldAt = Number.NEGATIVE_INFINITY;
  const pace: RetryPolicy = {
    ...clocked,
    ...{ firstDelayMs: 0, longestDelayMs: 0, deadlineMs: PATIENCE_SECONDS * 1_000 },
    requestedDelayMs: () => 5_000,
    onRetry(error) {
      if (now() - toldAt < TOLD_EVERY_MS) return;
      toldAt = now();
      const why = error instanceof Error ? error.message : String(error);
      tell(`waiting for its turn, up to ${PATIENCE_SECONDS} s: ${why}`);
    },
  };
  return await retry(pace, isOthersTurn, take);
}

function isOthersTurn(error: unknown): boolean {
  return error instanceof RetryableFailure && error.name === 'RetryableStepRunning';
}
