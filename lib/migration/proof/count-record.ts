// How many memories every user has: exact from the vector store, with the memory backend as a second witness.
import type { Services } from '../services.ts';
import type { Census } from './user-census.ts';

export interface CountRecord {
  readonly points: number;
  readonly unreachable: Census['unreachable'];
  readonly expired: number;
  readonly withText: number;
  /** Exact, from the vector store. */
  readonly users: readonly { readonly userId: string; readonly points: number }[];
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
  const { points, unreachable, expired, withText } = census;
  const users = [...census.users]
    .map(([userId, count]) => ({ userId, points: count }))
    .toSorted((one, other) => (one.userId < other.userId ? -1 : 1));
  const disagreements = [];
  for (const { userId, points: exact } of users) {
    const counted = await backend.memoryCount(userId);
    if (counted !== exact) disagreements.push({ userId, points: exact, backend: counted });
  }
  return { points, unreachable, expired, withText, users, disagreements };
}
