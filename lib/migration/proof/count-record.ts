// How many memories every user has: exact from the vector store, with the memory backend as a second witness.
import { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import type { Census } from './user-census.ts';

export interface CountRecord {
  readonly points: number;
  readonly unreachable: Census['unreachable'];
  readonly expired: number;
  readonly withText: number;
  /** Exact, from the vector store. */
  readonly users: readonly { readonly userId: string; readonly points: number }[];
  /** A key may be good for its own user's count only: then the store's is the only one. */
  readonly witness: 'asked' | 'refused';
  /** Where the memory backend counts otherwise: capped, or without what it hides. */
  readonly disagreements: readonly {
    readonly userId: string;
    readonly points: number;
    readonly backend: number;
  }[];
}

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
