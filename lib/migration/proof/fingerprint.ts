// What a collection holds, as one digest over ids and payloads: equal before and after means nobody wrote.
import * as v from 'valibot';
import { pagesOf } from '../copy/collection-pages.ts';
import { userIdOf } from '../json/memory-payload.ts';
import type { VectorStore } from '../ports/vector-store.ts';
import { digestOf, EMPTY_SET, withDigest } from './point-digest.ts';

export const fingerprintSchema = v.object({ digest: v.string(), points: v.number() });

export type Fingerprint = Readonly<v.InferOutput<typeof fingerprintSchema>>;

/** @param without a user whose memories do not count */
export async function fingerprintOf(
  store: VectorStore,
  collection: string,
  without?: string,
): Promise<Fingerprint> {
  const uncounted = without === undefined ? undefined : JSON.stringify(without);
  let digest = EMPTY_SET;
  let count = 0;
  for await (const { points } of pagesOf({ store, collection }, { limit: 256, vector: false })) {
    for (const { id, payload } of points) {
      if (uncounted !== undefined && userIdOf(payload) === uncounted) continue;
      digest = withDigest(digest, digestOf(id, payload));
      count += 1;
    }
  }
  return { digest, points: count };
}
