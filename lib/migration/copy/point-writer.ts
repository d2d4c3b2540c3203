// Writes copied points: never over a newer write, in batches no larger than the store takes.

import type { Point, ScrolledPoint } from '../ports/vector-store.ts';
import { isRefusedWith, Refusal } from '../refusals.ts';
import type { CollectionPlace } from './collection-pages.ts';
import { withKeywordText } from './keyword-slot.ts';

/** How points that are already there are told from those that are not. */
export type InsertMode =
  /** The store does it by itself, and nothing can come in between (1.17 and later). */
  | 'by-store'
  /** Asked for beforehand: what is written between question and insert would be overwritten. */
  | 'ask-first';

export interface WriterSettings {
  readonly target: CollectionPlace;
  readonly insertMode: InsertMode;
  /** Gives the store the text of points that have no keyword vector. */
  readonly fillsKeywords: boolean;
  /** Called before every write; throws when another invocation has taken over. */
  readonly assertTurn?: (() => Promise<void>) | undefined;
}

export type PointWriter = ReturnType<typeof createPointWriter>;

export function createPointWriter(settings: WriterSettings) {
  const { target, insertMode, fillsKeywords, assertTurn } = settings;
  const { store, collection } = target;
  let largest = Number.POSITIVE_INFINITY;

  /** Durable when it returns; points that exist are left as they are. */
  async function insert(scrolled: readonly ScrolledPoint[]): Promise<void> {
    const points = scrolled.map(toPoint);
    const absent = insertMode === 'by-store' ? points : await absentOf(points);
    await inBatches(absent, (batch) => store.upsert(collection, batch, 'insert_only'));
  }

  /** Durable when it returns; points that exist become what they are here. */
  async function replace(scrolled: readonly ScrolledPoint[]): Promise<void> {
    const points = scrolled.map(toPoint);
    await inBatches(points, (batch) => store.upsert(collection, batch, 'upsert'));
  }

  function toPoint({ id, vector, payload }: ScrolledPoint): Point {
    if (vector === undefined) {
      throw new Refusal('RefusedByStore', `Point ${id} came without its vector.`);
    }
    const point = { id, vector, payload };
    return fillsKeywords ? withKeywordText(point) : point;
  }

  async function absentOf(points: readonly Point[]): Promise<Point[]> {
    const ids = points.map(({ id }) => id);
    const found = await store.retrieve(collection, ids, { payload: false, vector: false });
    const present = new Set(found.map(({ id }) => id));
    return points.filter(({ id }) => !present.has(id));
  }

  // The size a store takes is found once, by halving, and kept.
  async function inBatches(
    points: readonly Point[],
    write: (batch: readonly Point[]) => Promise<void>,
  ): Promise<void> {
    for (let at = 0; at < points.length; ) {
      const batch = points.slice(at, at + largest);
      await assertTurn?.();
      const isWritten = await write(batch).then(
        () => true,
        (error: unknown) => {
          if (!isRefusedWith(error, 413) || batch.length === 1) throw error;
          return false;
        },
      );
      if (isWritten) at += batch.length;
      else largest = Math.ceil(batch.length / 2);
    }
  }

  return { insert, replace, fillsKeywords };
}
