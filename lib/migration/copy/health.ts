// Whether a store is fit to be written to: what more is written to a collection in trouble may be lost, or make it worse.
import type { CollectionInfo, VectorStore } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';

/** Red is what a store turns that has run out of room; yellow and grey ones are at work. */
export function troubleOf({ status, optimizer_status }: CollectionInfo): string | undefined {
  if (status !== 'red' && optimizer_status === 'ok') return undefined;
  const optimizer = JSON.stringify(optimizer_status).slice(0, 300);
  return `The collection is ${status}, its optimizer ${optimizer}.`;
}

/** @throws Refusal naming the collection that is in trouble */
export async function assertHealthy(
  store: Pick<VectorStore, 'collectionInfo'>,
  collections: readonly string[],
): Promise<void> {
  const infos = await Promise.all(collections.map((name) => store.collectionInfo(name)));
  infos.forEach((info, at) => {
    const trouble = info && troubleOf(info);
    if (trouble) throw new Refusal('RefusedUnhealthyStore', `${collections[at]}: ${trouble}`);
  });
}
