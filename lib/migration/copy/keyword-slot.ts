// The sparse vector that keyword search ranks by: its slot, and how a copied point comes by one.

import { scanJson } from '../json/json-scanner.ts';
import { asJsonText, type JsonText } from '../json/json-text.ts';
import { keywordTextOf } from '../json/memory-payload.ts';
import type { Point, PointVector, VectorStore } from '../ports/vector-store.ts';

export const KEYWORD_SLOT = 'bm25';

/** Encoded by the store itself, without any model of ours. */
export const KEYWORD_MODEL = 'qdrant/bm25';

/** How copied points come by their keyword vectors. */
export type KeywordFilling =
  /** The store makes them of the text, while copying. */
  | 'by-store'
  /** There is a slot, but the store cannot: copied points would rank below new ones. */
  | 'left-empty'
  /** The target has no slot at all. */
  | 'no-slot';

export async function keywordFillingOf(
  store: VectorStore,
  target: string,
): Promise<KeywordFilling> {
  const info = await store.collectionInfo(target);
  if (!info?.config.params.sparse_vectors?.[KEYWORD_SLOT]) return 'no-slot';
  return (await store.encodesKeywords(target, KEYWORD_SLOT)) ? 'by-store' : 'left-empty';
}

/** The point with its text for the store to encode; as it is when it has a keyword vector or no text. */
export function withKeywordText(point: Point): Point {
  const text = keywordTextOf(point.payload);
  if (text === undefined || hasKeywords(point.vector)) return point;
  return { ...point, vector: besideDense(point.vector, documentOf(text)) };
}

/** A slot that is there and empty ranks as one that is not. */
export function hasKeywords(vector: PointVector | undefined): boolean {
  const keywords = vector && vectorsByName(vector).get(KEYWORD_SLOT);
  return keywords !== undefined && NOT_EMPTY.test(keywords);
}

const NOT_EMPTY = /"indices"\s*:\s*\[\s*\d/;

/** The unnamed dense vector of either shape, as JSON. */
export function unnamedVectorOf(vector: PointVector): JsonText<readonly number[]> | undefined {
  return vectorsByName(vector).get('') as JsonText<readonly number[]> | undefined;
}

// An array is the unnamed vector alone; an object has that under the empty name, beside the others.
function vectorsByName(vector: PointVector): Map<string, JsonText> {
  if (vector.startsWith('[')) return new Map([['', vector]]);
  const scanner = scanJson(vector);
  const vectors = new Map<string, JsonText>();
  for (const name of scanner.members()) vectors.set(name, scanner.text());
  return vectors;
}

function documentOf(text: JsonText<string>): string {
  return `{"text":${text},"model":${JSON.stringify(KEYWORD_MODEL)}}`;
}

function besideDense(vector: PointVector, keywords: string): PointVector {
  const members = [...vectorsByName(vector)].map(([name, one]) => `${JSON.stringify(name)}:${one}`);
  return asJsonText(`{${[...members, `${JSON.stringify(KEYWORD_SLOT)}:${keywords}`].join(',')}}`);
}
