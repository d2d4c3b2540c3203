// How many memories every user has: exact from the vector store, with the memory backend as a second witness.
import * as v from 'valibot';
import type { Services } from '../services.ts';
import { askWitness, type Patience } from './second-witness.ts';
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
  /** in-part: time was up before every user was asked for. refused: the store's counts are the only ones. */
  witness: v.picklist(['asked', 'in-part', 'refused']),
  /** Users whose count the memory backend was asked for: those with most memories. */
  asked: count,
  /** Where the memory backend counts otherwise: capped, or without what it hides. */
  disagreements: v.array(v.object({ ...ofUser, backend: count })),
});

export type CountRecord = v.InferOutput<typeof countRecordSchema>;

export async function recordCounts(
  services: Pick<Services, 'backend' | 'clock'>,
  census: Census,
  patience: Patience,
): Promise<CountRecord> {
  const { users: counts, ...figures } = census;
  const users = [...counts]
    .map(([userId, count]) => ({ userId, points: count }))
    .toSorted((one, other) => (one.userId < other.userId ? -1 : 1));
  const { counted, isRefused } = await askWitness(services, users, patience);
  const disagreements = users
    .map((user) => ({ ...user, backend: counted.get(user.userId) ?? user.points }))
    .filter(({ points, backend }) => points !== backend);
  const heard = counted.size === users.length ? 'asked' : 'in-part';
  const witness = isRefused ? 'refused' : heard;
  return { ...figures, users, witness, asked: counted.size, disagreements };
}
