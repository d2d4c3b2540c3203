// Copies a collection into another: scroll, insert, checkpoint, in that order, the next page on its way meanwhile.

import { keywordTextOf } from '../json/memory-payload.ts';
import type { StepPorts } from '../ports/step-ports.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { type CollectionPlace, pagesOf } from './collection-pages.ts';
import { hasKeywords, type KeywordFilling } from './keyword-slot.ts';
import { createPointWriter, type InsertMode } from './point-writer.ts';

/** How far a copy has come; all it tells of is durable. Plain JSON. */
export interface CopyCheckpoint {
  readonly isComplete: boolean;
  /** Where to go on. */
  readonly nextOffset: PointId | null;
  readonly copied: number;
  /** Of those copied: with words that a keyword vector could be made of. */
  readonly withText: number;
  /** Of those: still without one, because nobody here can make it. */
  readonly withoutKeywords: number;
}

export interface CopySettings {
  readonly source: CollectionPlace;
  readonly target: CollectionPlace;
  readonly pageSize: number;
  readonly insertMode: InsertMode;
  readonly keywords: KeywordFilling;
}

export const COPY_START: CopyCheckpoint = {
  isComplete: false,
  nextOffset: null,
  copied: 0,
  withText: 0,
  withoutKeywords: 0,
};

/**
 * Goes on from a checkpoint, to the end or until time is up. A kill at any point costs the pages since
 * the last checkpoint, which are written again without effect.
 */
export async function copyPoints(
  settings: CopySettings,
  ports: StepPorts<CopyCheckpoint>,
  from: CopyCheckpoint = COPY_START,
): Promise<CopyCheckpoint> {
  if (from.isComplete) return from;
  const { source, target, insertMode, keywords, pageSize } = settings;
  const fillsKeywords = keywords === 'by-store';
  const { assertTurn } = ports;
  const writer = createPointWriter({ target, insertMode, fillsKeywords, assertTurn });
  let checkpoint = from;
  for await (const page of pagesOf(source, { limit: pageSize, offset: from.nextOffset })) {
    await writer.insert(page.points);
    checkpoint = advanced(checkpoint, page.points, page.nextOffset, keywords);
    await ports.saveCheckpoint(checkpoint);
    if (ports.isTimeUp?.()) break;
  }
  return checkpoint;
}

function advanced(
  before: CopyCheckpoint,
  points: readonly ScrolledPoint[],
  nextOffset: PointId | null,
  keywords: KeywordFilling,
): CopyCheckpoint {
  const texts = points.filter(({ payload }) => keywordTextOf(payload) !== undefined);
  const unfilled =
    keywords === 'by-store' ? [] : texts.filter(({ vector }) => !hasKeywords(vector));
  return {
    isComplete: nextOffset === null,
    nextOffset,
    copied: before.copied + points.length,
    withText: before.withText + texts.length,
    withoutKeywords: before.withoutKeywords + unfilled.length,
  };
}
