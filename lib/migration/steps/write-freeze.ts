// Proves that writes are frozen, or open again. A frozen backend must refuse a test write; then requests in progress get time
// to end.
import * as v from 'valibot';
import { isRefusal, Refusal, RetryableFailure } from '../refusals.ts';
import { Paused } from '../runs/journal.ts';
import type { Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { removeTestWrites } from './clean-up.ts';
import { askAgain, waitForAction } from './external-action.ts';

/** Time since which the test writes have had the same result */
export const freezeChecksSchema = v.object({
  refusedSince: v.optional(v.number()),
  unprovedSince: v.optional(v.number()),
});

/** Time between two test writes; less if the longest request is short */
const FREEZE_POLL_SECONDS = 10;

function choosePollSeconds({ drainSeconds }: Run['plan']): number {
  return Math.min(FREEZE_POLL_SECONDS, Math.max(1, Math.ceil(drainSeconds)));
}

/** Time in which an answer that proves nothing is tolerated */
const PATIENCE_MS = 60_000;

/** Answers that prove that no write is made, neither this one nor others */
const PROOFS: readonly unknown[] = [503, 'ECONNREFUSED'];

/** Figures for the report */
export const proofSchema = v.object({
  frozenSince: v.string(),
  refusedWith: v.string(),
  drainedSeconds: v.number(),
});

type FreezeProof = v.InferOutput<typeof proofSchema>;

interface Freezing {
  /** Collections that a write of the backend changes */
  readonly collections: readonly [string, ...string[]];
  readonly isProved?: boolean;
}

export async function freezeWrites(
  context: StepContext,
  { collections, isProved = true }: Freezing,
): Promise<FreezeProof | Record<string, never>> {
  await waitForAction(context, 'freeze', collections[0]);
  return isProved ? await proveFrozen(context, collections) : {};
}

/**
 * Keeps the result of each try for the next one.
 * @throws Paused where a write is to be tried again in a while; Refusal when one is accepted, or nothing proves that it is not
 */
async function proveFrozen(
  context: StepContext,
  collections: Freezing['collections'],
): Promise<FreezeProof> {
  const { cursor, keep } = context;
  const checks = v.parse(v.optional(freezeChecksSchema, {}), cursor);
  const { plan } = context.run;
  const now = context.services.clock().getTime();
  const failure = await tryWrite(context, collections, MEMORABLE);
  if (!failure) throw notFrozen('The memory backend still accepts writes.');
  // A wrong key, or the key of another user, never proves anything.
  const isAnswer = failure instanceof RetryableFailure || isRefusal(failure, 'RefusedByService');
  if (!isAnswer) throw failure;
  if (!PROOFS.includes(failure.answer)) {
    const { unprovedSince = now } = checks;
    await keep({ unprovedSince });
    const waitsFor = `a write to be refused with 503 (${failure.message})`;
    if (now - unprovedSince < PATIENCE_MS)
      throw new Paused({ waitsFor, waitSeconds: choosePollSeconds(plan) });
    throw notFrozen(`Nothing proves that writes are refused. ${failure.message}`);
  }
  const { refusedSince = now } = checks;
  await keep({ refusedSince });
  const drainedSeconds = (now - refusedSince) / 1_000;
  if (drainedSeconds >= context.run.plan.drainSeconds) {
    const frozenSince = new Date(refusedSince).toISOString();
    return { frozenSince, refusedWith: String(failure.answer), drainedSeconds };
  }
  const leftSeconds = Math.ceil(context.run.plan.drainSeconds - drainedSeconds);
  const waitSeconds = Math.min(FREEZE_POLL_SECONDS, leftSeconds);
  throw new Paused({ waitsFor: 'running requests to end', waitSeconds, leftSeconds });
}

/**
 * Checks that a freeze has ended: a write that is still refused as before shows that "open-writes" was not done. Any other answer
 * proves nothing, and does not stop the run.
 * @throws RetryableFailure to ask for "open-writes" again
 */
export async function assertOpen(
  context: StepContext,
  collections: readonly [string, ...string[]],
): Promise<void> {
  const failure = await tryWrite(context, collections, FORGETTABLE);
  if (!PROOFS.includes(failure?.answer)) return;
  await askAgain(context);
  const why = `After "open-writes" on ${collections[0]}, the memory backend still refuses writes: ${failure?.answer}`;
  throw new RetryableFailure('RetryableUnavailable', why);
}

const MEMORABLE = 'My name is a test of the write freeze.';
/** A text without anything to remember, even for a graph */
const FORGETTABLE = 'Hi.';

/** Tries a write of the test user, and removes it. @returns its failure; undefined if it was made */
async function tryWrite(
  context: StepContext,
  collections: readonly string[],
  text: string,
): Promise<(Error & { readonly answer?: unknown }) | undefined> {
  const { services, run, renew } = context;
  // Test writes of an earlier attempt would count as new ones.
  await removeTestWrites(context, collections);
  await renew();
  const failure = await services.backend.addMemory(testUserOf(run.runId), text).then(
    () => undefined,
    (error: Error) => error,
  );
  const written = await removeTestWrites(context, collections);
  return written === 0 ? failure : undefined;
}

function notFrozen(why: string): Refusal {
  return new Refusal('RefusedNotFrozen', why);
}
