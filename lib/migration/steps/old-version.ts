// Whether the backend runs the old version again, before a rollback opens writes: on the new version, users would go on
// writing into the new collection. While writes are frozen nobody can write, so that a read has to tell.
import { isRetryableFailure, Refusal } from '../refusals.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { askAgain, suspecting } from './external-action.ts';

/** How long a backend that does not answer is asked again. */
const PATIENCE_MS = 5 * 60_000;

/**
 * Without a proof users are let in all the same: they cannot wait for ever.
 * @param save keeps since when it was asked in vain
 * @returns false without a proof
 * @throws Refusal when the new version answers; RetryableFailure when it is to be asked again
 */
export async function proveOldVersion(
  context: StepContext,
  options: {
    readonly collection: string;
    readonly unansweredSince: number | undefined;
    readonly save: (unansweredSince: number) => Promise<unknown>;
  },
): Promise<boolean> {
  const { services, run } = context;
  const { backend, clock, log } = services;
  const { collection, save } = options;
  let isNew: boolean;
  try {
    await backend.health();
    isNew = await backend.isGraphDeprecated(testUserOf(run.runId));
  } catch (error) {
    const isRetryable = isRetryableFailure(error);
    if (!isRetryable && !(error instanceof Refusal)) throw error;
    const now = clock().getTime();
    const { unansweredSince = now } = options;
    if (isRetryable && now - unansweredSince < PATIENCE_MS) {
      await save(unansweredSince);
      throw suspecting('deploy-old', collection, error);
    }
    const message = 'The backend does not say whether it runs the old version; rollback goes on';
    log({ level: 'WARN', message, runId: run.runId, why: String(error) });
    return false;
  }
  if (!isNew) return true;
  await askAgain(context);
  throw new Refusal(
    'RefusedStillNewVersion',
    `After "deploy-old" on ${collection}, the new version still answers.`,
  );
}
