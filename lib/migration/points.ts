// Properties of one point: its order, digest, user, dense vector and keyword vector
import { hash } from 'node:crypto';
import { scanJson } from './json/json-scanner.ts';
import {
  asJsonText,
  canonical,
  canonicalJson,
  type JsonText,
  parseLossless,
} from './json/json-text.ts';
import { keywordTextOf, memberOf } from './json/memory-payload.ts';
import type { Point, PointId, PointPayload, PointVector } from './ports/vector-store.ts';

export const KEYWORD_SLOT = 'bm25';

/** Model by which the store itself encodes keyword vectors */
export const KEYWORD_MODEL = 'qdrant/bm25';

/** Differences up to which two components count as equal: for 32 bits, and for 16 bits */
const TOLERANCE = 1e-6;
const TOLERANCE_16_BIT = 2 ** -10;

/** The length of a rounded unit vector is not quite 1, so that writing it again rounds it differently. */
export function vectorTolerance(datatypes: readonly unknown[]): number {
  return datatypes.includes('float16') ? TOLERANCE_16_BIT : TOLERANCE;
}

/** Compares as a scroll sorts: integer ids by size, then UUIDs. */
export function comparePointIds(first: PointId, second: PointId): number {
  const isUuid = first.startsWith('"');
  if (isUuid !== second.startsWith('"')) return isUuid ? 1 : -1;
  if (first.length !== second.length) return first.length - second.length;
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** SHA-256 of id and canonical payload */
export function digestOf(id: PointId, payload: PointPayload): Buffer {
  return hash('sha256', `${id}|${canonicalJson(payload)}`, 'buffer');
}

/** Sum of the digests of a set, independent of their order: 64 hexadecimal digits */
type SetDigest = string;

export const EMPTY_SET: SetDigest = '0'.repeat(64);

/** Adds digests modulo 2^256; with an exclusive or, a point that occurs twice would cancel itself out. */
export function createDigestSum(from: SetDigest = EMPTY_SET) {
  let sum = BigInt(`0x${from}`);
  return {
    add(digest: Buffer, times = 1): void {
      const added = BigInt(`0x${digest.toString('hex')}`) * BigInt(times);
      sum = BigInt.asUintN(256, sum + added);
    },
    text: (): SetDigest => sum.toString(16).padStart(EMPTY_SET.length, '0'),
  };
}

/** Ids of user, agent and session: the new version finds a memory by any of them. */
export const OWNER_KEYS = ['user_id', 'agent_id', 'run_id'] as const;

export type OwnerKey = (typeof OWNER_KEYS)[number];

/** User of a memory: its id; for an id that is no string, NUL and its JSON; empty for a memory without a user */
export function userOf(payload: PointPayload): string {
  return readOwnerId(payload, 'user_id');
}

/** Reads any of the three ids, in the same form. */
export function readOwnerId(payload: PointPayload, key: OwnerKey): string {
  const id = memberOf(payload, key) ?? null;
  if (typeof id === 'string') return id;
  const isEmpty = id === null || (Array.isArray(id) && id.length === 0);
  return isEmpty ? NO_USER : `\0${canonical(memberOf(payload, key, parseLossless))}`;
}

/** Owner of a memory: its user; without a user its agent, without an agent its session. */
export function ownerOf(payload: PointPayload): string {
  const key = OWNER_KEYS.find((name) => readOwnerId(payload, name) !== NO_USER);
  return key === undefined ? NO_USER : nameOwner(key, readOwnerId(payload, key));
}

/** A user is named by the id alone, as in the records of earlier runs; agents and sessions are marked. */
export function nameOwner(key: OwnerKey, id: string): string {
  return key === 'user_id' ? id : `\u0001${key}\u0001${id}`;
}

export const NO_USER = '';

/** SHA-256 of a user, as `userOf` gives it. */
export function userHash(user: string): Buffer {
  return hash('sha256', user, 'buffer');
}

/** Identifies a user in logs, reports and messages, where ids must not be readable; the same in every run */
export function userDigest(userId: string, hash = userHash(userId)): string {
  return `user-${hash.toString('hex', 0, 8)}`;
}

/** True if both unnamed vectors have the same direction, which alone determines cosine distance, or if neither point has one. */
export function sameVector(
  first: PointVector | undefined,
  second: PointVector | undefined,
  tolerance = TOLERANCE,
): boolean {
  const left = first && unnamedVectorOf(first);
  const right = second && unnamedVectorOf(second);
  if (left === right) return first !== undefined && second !== undefined;
  if (left === undefined || right === undefined) return false;
  const [ours, theirs]: [number[], number[]] = [JSON.parse(left), JSON.parse(right)];
  if (sameComponents(ours, theirs, tolerance)) return true;
  // The store keeps whole numbers as written, and gives other vectors length 1.
  return sameComponents(normalize(ours), normalize(theirs), tolerance);
}

function sameComponents(
  first: readonly number[],
  second: readonly number[],
  tolerance: number,
): boolean {
  const isSame = (value: number, at: number) =>
    Math.abs(value - (second[at] ?? Number.NaN)) <= tolerance;
  return first.length === second.length && first.every(isSame);
}

function normalize(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** The unnamed dense vector, as JSON */
export function unnamedVectorOf(vector: PointVector): JsonText<readonly number[]> | undefined {
  return vectorsByName(vector).get('') as JsonText<readonly number[]> | undefined;
}

/** A named vector of the point, as JSON */
export function findVector(vector: PointVector, name: string): JsonText | undefined {
  return vectorsByName(vector).get(name);
}

/** True if the point has a keyword vector; an empty one does not count. */
export function hasKeywords(vector: PointVector | undefined): boolean {
  const keywords = vector && vectorsByName(vector).get(KEYWORD_SLOT);
  return keywords !== undefined && NOT_EMPTY.test(keywords);
}

const NOT_EMPTY = /"indices"\s*:\s*\[\s*\d/;

/** True for a point that has words but no keyword vector */
export function lacksKeywords(point: {
  readonly payload: PointPayload;
  readonly vector: PointVector | undefined;
}): boolean {
  return !hasKeywords(point.vector) && keywordTextOf(point.payload) !== undefined;
}

/** The point with its text for the store to encode; unchanged if it has a keyword vector or no text */
export function withKeywordText(point: Point): Point {
  const text = keywordTextOf(point.payload);
  if (text === undefined || hasKeywords(point.vector)) return point;
  const keywords = `{"text":${text},"model":${JSON.stringify(KEYWORD_MODEL)}}`;
  const named = [...vectorsByName(point.vector)].filter(([name]) => name !== KEYWORD_SLOT);
  const members = [...named, [KEYWORD_SLOT, keywords] as const];
  const texts = members.map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return { ...point, vector: asJsonText(`{${texts.join(',')}}`) };
}

/** The point for a collection without keyword slots */
export function withoutKeywords(point: Point): Point {
  const dense = unnamedVectorOf(point.vector);
  return dense === undefined ? point : { ...point, vector: asJsonText(dense) };
}

// An array is the unnamed vector alone; an object has the unnamed vector under the empty name, among others. The last result is
// cached: a vector is read several times in a row, and scanning it is most of the work of a comparison.
function vectorsByName(vector: PointVector): ReadonlyMap<string, JsonText> {
  if (vector.startsWith('[')) return new Map([['', vector]]);
  if (vector === lastScanned.vector) return lastScanned.vectors;
  const scanner = scanJson(vector);
  const vectors = new Map<string, JsonText>();
  for (const name of scanner.members()) vectors.set(name, scanner.text());
  lastScanned = { vector, vectors };
  return vectors;
}

let lastScanned: {
  readonly vector: string;
  readonly vectors: ReadonlyMap<string, JsonText>;
} = { vector: '', vectors: new Map() };
