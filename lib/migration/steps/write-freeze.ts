// Proves that nobody writes: a write is tried, which has to be declined, and the store has to hold still between two looks.
import * as v from 'valibot';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { ofTestUser } from '../runs/run-names.ts';
import type { Turn } from '../runs/step.ts';
import { fingerprintOf } from '../scan.ts';

export const lookSchema = v.object({ digest: v.string(), seenAt: v.number() });

export type Look = v.InferOutput<typeof lookSchema>;

/** How long the store has to hold still. */
export const STILL_SECONDS = 10;

export interface Stillness {
  readonly fingerprint: string;
  readonly points: number;
  readonly stillSeconds: number;
}

/**
 * @param remember keeps the first look for the next invocation, or forgets it when somebody has written since
 * @returns undefined when it is to be looked at again in a while
 * @throws Refusal when somebody writes
 */
export async function proveFrozen(
  turn: Turn,
  options: {
    readonly collection: string;
    /** Where else a write of the backend leaves something. */
    readonly companions: readonly string[];
    readonly look: Look | undefined;
    readonly remember: (look: Look | undefined) => Promise<void>;
  },
): Promise<Stillness | undefined> {
  const { collection, companions, look, remember } = options;
  await assertWritesFail(turn, [collection, ...companions]);
  const now = turn.services.clock().getTime();
  const { digest, points } = await fingerprintOf(turn.services.vectors, collection);
  if (look && look.digest !== digest) {
    await remember(undefined);
    throw new Refusal('RefusedNotFrozen', `Somebody still writes to ${collection}.`);
  }
  const { seenAt = now } = look ?? {};
  const stillSeconds = (now - seenAt) / 1_000;
  if (stillSeconds >= STILL_SECONDS) return { fingerprint: digest, points, stillSeconds };
  await remember({ digest, seenAt });
  return undefined;
}

// The backend has to turn the write down, or to be out of reach. A write that was not answered may have been made.
async function assertWritesFail(turn: Turn, collections: readonly string[]): Promise<void> {
  const { services, run, renew } = turn;
  // What an earlier try has left would be taken for a new one.
  await removeTestWrites(turn, collections);
  await renew();
  const isAccepted = await services.backend
    .addMemory(testUserOf(run.runId), 'My name is a test of the write freeze.')
    .then(() => true, declined);
  const written = await removeTestWrites(turn, collections);
  if (!isAccepted && written === 0) return;
  throw new Refusal('RefusedNotFrozen', 'The memory backend still takes writes.');
}

function declined(error: unknown): false {
  if (error instanceof RetryableFailure) return false;
  throw error;
}

async function removeTestWrites(
  { services: { vectors }, run, renew }: Turn,
  collections: readonly string[],
): Promise<number> {
  const filter = ofTestUser(run);
  let written = 0;
  for (const name of collections) {
    if (!(await vectors.collectionExists(name))) continue;
    const points = await vectors.count(name, filter);
    if (points === 0) continue;
    await renew();
    await vectors.deletePoints(name, { filter });
    written += points;
  }
  return written;
}
