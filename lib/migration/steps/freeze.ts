// Opens the window: writes are stopped, and that they are is proved by trying one and by watching the store.
import * as v from 'valibot';
import { testUserOf } from '../ports/memory-backend.ts';
import { storeReport } from '../ports/reports.ts';
import { fingerprintOf } from '../proof/fingerprint.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { ofTestUser } from '../runs/run-names.ts';
import type { Step, Turn } from '../runs/step.ts';
import { isDoneOutside } from './ask-outside.ts';

const stateSchema = v.object({
  digest: v.optional(v.string()),
  seenAt: v.optional(v.number()),
});

/** How long the store has to hold still. */
const STILL_SECONDS = 10;
const POLL_SECONDS = 5;

export const freeze: Step = {
  command: 'freeze',
  forecast: async ({ run }) => ({
    windowMinutes: run.plan.windowMinutes,
    asks: 'the webhook or a person to stop all writes',
  }),
  onEntering: ({ services, run }) => ({
    deadlineAt: services.clock().getTime() + run.plan.windowMinutes * 60_000,
  }),
  work: async (turn) => {
    const { services, run, lease, checkpoint, save } = turn;
    const { sourceCollection } = run.plan;
    const state = v.parse(stateSchema, checkpoint?.state ?? {});
    if (!(await isDoneOutside(turn, 'freeze', sourceCollection))) {
      return { done: false, waitSeconds: POLL_SECONDS };
    }
    await assertWritesFail(turn);
    const now = services.clock().getTime();
    const { digest, points } = await fingerprintOf(services.vectors, sourceCollection);
    if (state.digest !== undefined && state.digest !== digest) {
      await save({});
      throw new Refusal('RefusedNotFrozen', `Somebody still writes to ${sourceCollection}.`);
    }
    const { seenAt = now } = state;
    if (now - seenAt < STILL_SECONDS * 1_000) {
      await save({ digest, seenAt });
      return { done: false, waitSeconds: STILL_SECONDS };
    }
    const facts = { fingerprint: digest, points, stillSeconds: (now - seenAt) / 1_000 };
    const evidence = await storeReport(services, {
      lease,
      name: 'freeze-proof',
      content: { runId: run.runId, collection: sourceCollection, ...facts },
      facts,
    });
    return { done: true, evidence };
  },
};

// The backend has to turn the write down, or to be out of reach. A write that was not answered may have been made.
async function assertWritesFail({ services, run, renew }: Turn): Promise<void> {
  const { backend, vectors } = services;
  const { sourceCollection } = run.plan;
  const filter = ofTestUser(run);
  await renew();
  const isAccepted = await backend
    .addMemory(testUserOf(run.runId), 'My name is a test of the write freeze.')
    .then(() => true, declined);
  if (!isAccepted && (await vectors.count(sourceCollection, filter)) === 0) return;
  await renew();
  await vectors.deletePoints(sourceCollection, { filter });
  throw new Refusal('RefusedNotFrozen', 'The memory backend still takes writes.');
}

function declined(error: unknown): false {
  if (error instanceof RetryableFailure) return false;
  throw error;
}
