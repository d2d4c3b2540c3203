// Goes through a collection page by page, the next one under way while this one is worked on.
import type { PointId, ScrolledPoint, ScrollRequest, VectorPoints } from '../ports/vector-store.ts';

/** A collection, and the store it is in. */
export interface CollectionPlace {
  readonly store: VectorPoints;
  readonly collection: string;
}

type Scrollable = Omit<CollectionPlace, 'store'> & { readonly store: Pick<VectorPoints, 'scroll'> };

export interface Page {
  readonly points: readonly ScrolledPoint[];
  /** Where the page after this one begins; `null` when there is none. */
  readonly nextOffset: PointId | null;
}

export async function* pagesOf(
  { store, collection }: Scrollable,
  request: ScrollRequest,
): AsyncGenerator<Page, void, void> {
  let underWay = store.scroll(collection, request);
  for (;;) {
    const page = await underWay;
    if (page.nextOffset === null) return yield page;
    underWay = store.scroll(collection, { ...request, offset: page.nextOffset });
    // Whoever stops here does not see it fail; who goes on awaits it.
    underWay.catch(() => undefined);
    yield page;
  }
}
