// What a collection holds, as one digest over ids and payloads: equal before and after means nobody wrote.
import * as v from 'valibot';
import { pagesOf } from '../copy/collection-pages.ts';
import type { VectorStore } from '../ports/vector-store.ts';
import { digestOf, EMPTY_SET, withDigest } from './point-digest.ts';

export const fingerprintSchema = v.object({ digest: v.string(), points: v.number() });

export type Fingerprint = Readonly<v.InferOutput<typeof fingerprintSchema>>;

export async function fingerprintOf(store: VectorStore, collection: string): Promise<Fingerprint> {
  let digest = EMPTY_SET;
  let count = 0;
  for await (const { points } of pagesOf({ store, collection }, { limit: 256, vector: false })) {
    for (const { id, payload } of points) digest = withDigest(digest, digestOf(id, payload));
    count += points.length;
  }
  return { digest, points: count };
}
