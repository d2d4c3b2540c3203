// How many memories each user has, exactly.
import { type CollectionPlace, pagesOf } from '../copy/collection-pages.ts';
import { toJsonText } from '../json/json-text.ts';
import { type UserIdText, userIdOf } from '../json/memory-payload.ts';
import type { Filter } from '../ports/vector-store.ts';
import { isRefusal } from '../refusals.ts';

export interface UserCounts {
  readonly total: number;
  readonly byUser: ReadonlyMap<UserIdText, number>;
  /** Memories that belong to nobody. */
  readonly withoutUser: number;
  readonly countedBy: 'facet' | 'scroll';
}

const UNOWNED: Filter = { must: [{ is_empty: { key: 'user_id' } }] };

// A facet is cut at its limit without a word; the sum shows it.
const MOST_USERS = 100_000;

/** By facet where it adds up to the exact total, else by looking at every point. */
export async function countUsers(place: CollectionPlace, pageSize: number): Promise<UserCounts> {
  return (await countByFacet(place)) ?? countByScroll(place, pageSize);
}

async function countByFacet(place: CollectionPlace): Promise<UserCounts | undefined> {
  const { store, collection } = place;
  const hits = await store.facet(collection, { key: 'user_id', limit: MOST_USERS }).catch(refused);
  if (!hits) return undefined;
  const withoutUser = await store.count(collection, UNOWNED);
  const total = await store.count(collection);
  const sum = hits.reduce((sum, { count }) => sum + count, withoutUser);
  if (sum !== total) return undefined;
  const byUser = new Map(hits.map(({ value, count }) => [toJsonText<unknown>(value), count]));
  return { total, byUser, withoutUser, countedBy: 'facet' };
}

export async function countByScroll(place: CollectionPlace, pageSize: number): Promise<UserCounts> {
  const byUser = new Map<UserIdText, number>();
  let total = 0;
  let withoutUser = 0;
  const request = { limit: pageSize, payload: ['user_id'], vector: false };
  for await (const { points } of pagesOf(place, request)) {
    for (const { payload } of points) {
      const user = userIdOf(payload);
      total += 1;
      if (user === undefined) withoutUser += 1;
      else byUser.set(user, (byUser.get(user) ?? 0) + 1);
    }
  }
  return { total, byUser, withoutUser, countedBy: 'scroll' };
}

// No keyword index, strict mode against exact counts, or a server before 1.12: there is the other way.
function refused(error: unknown): undefined {
  if (isRefusal(error, 'RefusedByStore')) return undefined;
  throw error;
}
