// What a collection holds, as one digest over ids and payloads: equal before and after means nobody wrote.
import { pagesOf } from '../copy/collection-pages.ts';
import type { VectorStore } from '../ports/vector-store.ts';
import { digestOf, EMPTY_SET, type SetDigest, withDigest } from './point-digest.ts';

export interface Fingerprint {
  readonly digest: SetDigest;
  readonly points: number;
}

export async function fingerprintOf(store: VectorStore, collection: string): Promise<Fingerprint> {
  let digest = EMPTY_SET;
  let count = 0;
  for await (const { points } of pagesOf({ store, collection }, { limit: 256, vector: false })) {
    for (const { id, payload } of points) digest = withDigest(digest, digestOf(id, payload));
    count += points.length;
  }
  return { digest, points: count };
}
