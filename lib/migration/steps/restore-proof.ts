// Proves that a restored snapshot is complete, while users keep writing to its source. A point that was the same right before and
// after the snapshot must be restored unchanged. The number of points alone proves nothing, because it changes meanwhile.
import { type BaseProgress, createBaseWriter } from '../base.ts';
import { digestPoint } from '../points.ts';
import type { PointId } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { StepContext } from '../runs/step.ts';
import { readPages } from '../scan.ts';
import { compare } from './comparison.ts';

const PAGE_SIZE = 512;
/** Pages listed between two checkpoints */
const PAGES_PER_PART = 32;

/** Digests of a collection's points right before its snapshot, as artifacts */
export type Listing = BaseProgress;

/** The list up to the end of a part, and where the next part begins */
interface ListedPart {
  readonly listing: Listing;
  readonly nextOffset: PointId;
}

export async function listBeforeSnapshot({ stages }: StepContext): Promise<Listing> {
  return await stages.once<Listing, ListedPart>('listed', listSource);
}

async function listSource({
  services,
  run,
  lease,
  cursor: listedPart,
  checkpoint,
}: StepContext<ListedPart>): Promise<Listing> {
  const { artifacts, vectors: store } = services;
  const place = { store, collection: run.plan.sourceCollection };
  const target = { prefix: `${run.runId}/base-${lease.epoch}-listed`, save: async () => {} };
  const writer = createBaseWriter({ artifacts, previous: undefined }, target, listedPart?.listing);
  const request = { limit: PAGE_SIZE, offset: listedPart?.nextOffset ?? null, vector: false };
  let pages = 0;
  for await (const { points, nextOffset } of readPages(place, request)) {
    for (const { id, payload } of points) writer.add(id, digestPoint(id, payload));
    if (nextOffset === null) break;
    pages += 1;
    const isDue = pages % PAGES_PER_PART === 0;
    await checkpoint(async () => ({ listing: await writer.flush(nextOffset), nextOffset }), {
      isDue,
    });
  }
  return await writer.flush(null);
}

/** @throws Refusal unless every point that stayed the same was restored unchanged */
export async function assertWholeRestore(
  context: StepContext,
  restored: string,
  { segments }: Listing,
): Promise<void> {
  const { sourceCollection: source } = context.run.plan;
  const { same, late } = await compare(context, {
    active: source,
    standby: restored,
    base: { segments },
  });
  const { lacking: missing, changed: different } = late;
  if (missing + different === 0) return;
  const compared = same + missing + different;
  const examples = late.examples.join(', ');
  const why = `The restored snapshot lacks ${missing} of ${compared} compared points of ${source}, and differs in ${different}, such as ${examples}: the store does not restore its own snapshot.`;
  throw new Refusal('RefusedSnapshot', why);
}

/** Removes the list, which is compared only once. */
export async function removeListing(
  { services, run }: StepContext,
  { segments }: Listing,
): Promise<void> {
  for (const { prefix } of segments) {
    if (prefix.startsWith(`${run.runId}/`)) await services.artifacts.deleteAll(prefix);
  }
}
