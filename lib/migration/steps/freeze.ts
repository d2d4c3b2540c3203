// Opens the window: writes are stopped. A write is tried, which a frozen backend refuses; then the longest request that was
// under way by then has the time to end. Where writes are open again, it is tried once more.
import * as v from 'valibot';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import { type Step, type StepContext, waiting } from '../runs/step.ts';
import { removeTestWrites } from './clean-up.ts';
import { askAgain, isDoneOutside } from './external-action.ts';

/** The last tries, as long as they had the same result: since when. */
export const lookSchema = v.union([
  v.object({ refusedSince: v.number() }),
  v.object({ unprovedSince: v.number() }),
]);

export type Look = v.InferOutput<typeof lookSchema>;

const stateSchema = v.object({ look: v.optional(lookSchema) });

export const freeze: Step = {
  command: 'freeze',
  forecast: async ({ run }) => ({
    windowMinutes: run.plan.windowMinutes,
    asks: 'the webhook or a person to stop all writes',
  }),
  onEntering: ({ services, run }) => ({
    deadlineAt: services.clock().getTime() + run.plan.windowMinutes * 60_000,
  }),
  work: async (context) => {
    const { checkpoint, save } = context;
    const { sourceCollection } = context.run.plan;
    const { look } = v.parse(stateSchema, checkpoint?.state ?? {});
    if (!(await isDoneOutside(context, 'freeze', sourceCollection))) {
      return waiting();
    }
    const facts = await proveFrozen(context, {
      collection: sourceCollection,
      companions: [],
      look,
      remember: (seen) => save(seen ? { look: seen } : {}),
    });
    if (!facts) return waiting(FREEZE_POLL_SECONDS);
    const more = { collection: sourceCollection };
    const evidence = await storeReport(context, 'freeze-proof', { facts, more });
    return { done: true, evidence };
  },
};

/** Between two tries. */
export const FREEZE_POLL_SECONDS = 10;

/** How long an answer that proves nothing is asked for again. */
const PATIENCE_MS = 60_000;

/** Only these say that the write was not made, and that no other is. */
const PROOFS: readonly unknown[] = [503, 'ECONNREFUSED'];

/** Figures for the record. */
type FreezeProof = {
  readonly refusedWith: string;
  readonly drainedSeconds: number;
};

/**
 * @param remember keeps what was seen for the next try
 * @returns undefined when a write is to be tried again in a while
 * @throws Refusal when a write is accepted, or nothing proves that it is not
 */
export async function proveFrozen(
  context: StepContext,
  options: {
    readonly collection: string;
    /** Where else a write of the backend leaves something. */
    readonly companions: readonly string[];
    readonly look: Look | undefined;
    readonly remember: (look: Look | undefined) => Promise<void>;
  },
): Promise<FreezeProof | undefined> {
  const { collection, companions, look, remember } = options;
  const now = context.services.clock().getTime();
  const answer = await tryWrite(context, [collection, ...companions]);
  if (!PROOFS.includes(answer)) {
    const unprovedSince = look && 'unprovedSince' in look ? look.unprovedSince : now;
    await remember({ unprovedSince });
    if (now - unprovedSince < PATIENCE_MS) return undefined;
    const why = `To a write, the memory backend answers ${answer ?? 'nothing'}: that may be a write all the same.`;
    throw await notFrozen(context, why);
  }
  const refusedSince = look && 'refusedSince' in look ? look.refusedSince : now;
  await remember({ refusedSince });
  const drainedSeconds = (now - refusedSince) / 1_000;
  if (drainedSeconds < context.run.plan.drainSeconds) return undefined;
  return { refusedWith: String(answer), drainedSeconds };
}

/**
 * Where nobody could write a moment ago: a write that is refused as it was then says that "open-writes" was not done. Any
 * other answer says nothing, and stands in nobody's way.
 * @throws RetryableFailure: it is asked for again
 */
export async function assertOpen(
  context: StepContext,
  collections: readonly [string, ...string[]],
): Promise<void> {
  const { services, run, renew } = context;
  await renew();
  // In it there is nothing to remember, also for a graph.
  const answer = await services.backend.addMemory(testUserOf(run.runId), 'Hi.').then(
    () => undefined,
    (error: unknown) => (error instanceof RetryableFailure ? error.answer : undefined),
  );
  await removeTestWrites(context, collections);
  if (!PROOFS.includes(answer)) return;
  await askAgain(context);
  const why = `After "open-writes" on ${collections[0]}, the memory backend still refuses writes: ${answer}`;
  throw new RetryableFailure('RetryableUnavailable', why);
}

/** @returns what the backend refused it with. @throws Refusal when the write was made */
async function tryWrite(
  context: StepContext,
  collections: readonly string[],
): Promise<number | string | undefined> {
  const { services, run, renew } = context;
  // The test writes of an earlier try would count as new ones.
  await removeTestWrites(context, collections);
  await renew();
  const attempt = await services.backend
    .addMemory(testUserOf(run.runId), 'My name is a test of the write freeze.')
    .then(() => undefined, refusalOf);
  const written = await removeTestWrites(context, collections);
  if (attempt && written === 0) return attempt.answer;
  throw await notFrozen(context, 'The memory backend still accepts writes.');
}

async function notFrozen(context: StepContext, why: string): Promise<Refusal> {
  await askAgain(context);
  return new Refusal('RefusedNotFrozen', why);
}

/** A wrong key, or the key of another user, never proves anything. */
function refusalOf(error: unknown): { readonly answer: number | string | undefined } {
  if (error instanceof RetryableFailure) return error;
  if (error instanceof Refusal && error.name === 'RefusedBackendAnswer') return error;
  throw error;
}
