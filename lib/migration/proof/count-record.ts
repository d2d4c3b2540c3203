// How many memories every user has: exact from the vector store, with the memory backend as a second witness.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import { type Census, UNREACHABLE } from './user-census.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const ofUser = { userId: v.string(), points: count };

export const countRecordSchema = v.object({
  points: count,
  unreachable: v.object(v.entriesFromList(UNREACHABLE, count)),
  expired: count,
  withText: count,
  /** Exact, from the vector store. */
  users: v.array(v.object(ofUser)),
  /** A key may be good for its own user's count only: then the store's is the only one. */
  witness: v.picklist(['asked', 'refused']),
  /** Where the memory backend counts otherwise: capped, or without what it hides. */
  disagreements: v.array(v.object({ ...ofUser, backend: count })),
});

export type CountRecord = v.InferOutput<typeof countRecordSchema>;

export async function recordCounts(
  { backend }: Pick<Services, 'backend'>,
  census: Census,
): Promise<CountRecord> {
  const { users: counts, ...figures } = census;
  const users = [...counts]
    .map(([userId, count]) => ({ userId, points: count }))
    .toSorted((one, other) => (one.userId < other.userId ? -1 : 1));
  const disagreements = [];
  for (const { userId, points: exact } of users) {
    const counted = await backend.memoryCount(userId).catch(refused);
    if (counted === undefined) return { ...figures, users, witness: 'refused', disagreements: [] };
    if (counted !== exact) disagreements.push({ userId, points: exact, backend: counted });
  }
  return { ...figures, users, witness: 'asked', disagreements };
}

function refused(error: unknown): undefined {
  if (error instanceof Refusal && error.name === 'RefusedKeyOfOtherUser') return undefined;
  throw error;
}
