// Properties of one point: its order, digest, user, dense vector and keyword vector
import { hash } from 'node:crypto';
import { scanJson } from './json/json-scanner.ts';
import {
  asJsonText,
  canonicalize,
  canonicalizeJson,
  type JsonText,
  parseLossless,
} from './json/json-text.ts';
import { findKeywordText, readMember } from './json/memory-payload.ts';
import type { Point, PointId, PointPayload, PointVector } from './ports/vector-store.ts';

export const KEYWORD_SLOT = 'bm25';

/** Model that the store uses to make keyword vectors */
export const KEYWORD_MODEL = 'qdrant/bm25';

/** Largest difference between two components that count as equal: with 32 bits, and with 16 bits */
const TOLERANCE = 1e-6;
const TOLERANCE_16_BIT = 2 ** -10;

/** Allows for rounding: a rounded unit vector does not have exactly length 1, so the store rounds it again when it is copied. */
export function chooseTolerance(datatypes: readonly unknown[]): number {
  return datatypes.includes('float16') ? TOLERANCE_16_BIT : TOLERANCE;
}

/** Compares two ids in scroll order: integers by size, then UUIDs. */
export function comparePointIds(first: PointId, second: PointId): number {
  const isUuid = first.startsWith('"');
  if (isUuid !== second.startsWith('"')) return isUuid ? 1 : -1;
  if (first.length !== second.length) return first.length - second.length;
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** SHA-256 of id and canonical payload */
export function digestPoint(id: PointId, payload: PointPayload): Buffer {
  return hash('sha256', `${id}|${canonicalizeJson(payload)}`, 'buffer');
}

/** Sum of the digests of a set, independent of their order: 64 hexadecimal digits */
type SetDigest = string;

export const EMPTY_SET: SetDigest = '0'.repeat(64);

/** Adds digests modulo 2^256; with an exclusive or, a point that occurs twice would cancel itself out. */
export function createDigestSum(initial: SetDigest = EMPTY_SET) {
  let sum = BigInt(`0x${initial}`);
  return {
    add(digest: Buffer, times = 1): void {
      const added = BigInt(`0x${digest.toString('hex')}`) * BigInt(times);
      sum = BigInt.asUintN(256, sum + added);
    },
    toHex: (): SetDigest => sum.toString(16).padStart(EMPTY_SET.length, '0'),
  };
}

/** Payload keys of the ids of user, agent and session: the new version finds a memory by any of these ids. */
export const OWNER_KEYS = ['user_id', 'agent_id', 'run_id'] as const;

export type OwnerKey = (typeof OWNER_KEYS)[number];

/** @returns the user's id; for an id that is not a string, NUL and its JSON; an empty string if the memory has no user */
export function readUser(payload: PointPayload): string {
  return readOwnerId(payload, 'user_id');
}

/** Reads any of the three ids, in the form of `readUser`. */
export function readOwnerId(payload: PointPayload, key: OwnerKey): string {
  const id = readMember(payload, key) ?? null;
  if (typeof id === 'string') return id;
  const isEmpty = id === null || (Array.isArray(id) && id.length === 0);
  return isEmpty ? NO_USER : `\0${canonicalize(readMember(payload, key, parseLossless))}`;
}

/** @returns the memory's user; without a user its agent; without an agent its session */
export function readOwner(payload: PointPayload): string {
  const key = OWNER_KEYS.find((name) => readOwnerId(payload, name) !== NO_USER);
  return key === undefined ? NO_USER : nameOwner(key, readOwnerId(payload, key));
}

/** A user's name is the id alone, as in the records of earlier runs; the names of agents and sessions have a prefix. */
export function nameOwner(key: OwnerKey, id: string): string {
  return key === 'user_id' ? id : `\u0001${key}\u0001${id}`;
}

export const NO_USER = '';

/** SHA-256 of a user or owner, as `readUser` or `readOwner` returns it */
export function hashUser(user: string): Buffer {
  return hash('sha256', user, 'buffer');
}

/** Name of a user in logs, reports and messages, which must not show ids; the same in every run */
export function digestUser(userId: string, hash = hashUser(userId)): string {
  return `user-${hash.toString('hex', 0, 8)}`;
}

/** True if both unnamed vectors have the same direction (cosine distance depends on nothing else), or if both are missing. */
export function isSameVector(
  first: PointVector | undefined,
  second: PointVector | undefined,
  tolerance = TOLERANCE,
): boolean {
  const firstText = first && readUnnamedVector(first);
  const secondText = second && readUnnamedVector(second);
  if (firstText === secondText) return first !== undefined && second !== undefined;
  if (firstText === undefined || secondText === undefined) return false;
  const [firstVector, secondVector]: [number[], number[]] = [
    JSON.parse(firstText),
    JSON.parse(secondText),
  ];
  if (areSameComponents(firstVector, secondVector, tolerance)) return true;
  // The store keeps vectors of whole numbers as written, and normalizes all others.
  return areSameComponents(normalize(firstVector), normalize(secondVector), tolerance);
}

function areSameComponents(
  first: readonly number[],
  second: readonly number[],
  tolerance: number,
): boolean {
  const isSame = (value: number, index: number) =>
    Math.abs(value - (second[index] ?? Number.NaN)) <= tolerance;
  return first.length === second.length && first.every(isSame);
}

function normalize(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** @returns the unnamed dense vector, as JSON */
export function readUnnamedVector(vector: PointVector): JsonText<readonly number[]> | undefined {
  return readVectors(vector).get('') as JsonText<readonly number[]> | undefined;
}

/** @returns the named vector, as JSON */
export function findVector(vector: PointVector, name: string): JsonText | undefined {
  return readVectors(vector).get(name);
}

/** True if the point has a keyword vector; an empty one does not count. */
export function hasKeywords(vector: PointVector | undefined): boolean {
  const keywords = vector && readVectors(vector).get(KEYWORD_SLOT);
  return keywords !== undefined && NON_EMPTY.test(keywords);
}

const NON_EMPTY = /"indices"\s*:\s*\[\s*\d/;

/** True for a point that has text for keywords but no keyword vector */
export function lacksKeywords(point: {
  readonly payload: PointPayload;
  readonly vector: PointVector | undefined;
}): boolean {
  return !hasKeywords(point.vector) && findKeywordText(point.payload) !== undefined;
}

/** Adds the text from which the store makes a keyword vector, unless the point has such a vector or has no text. */
export function addKeywordText(point: Point): Point {
  const text = findKeywordText(point.payload);
  if (text === undefined || hasKeywords(point.vector)) return point;
  const keywords = `{"text":${text},"model":${JSON.stringify(KEYWORD_MODEL)}}`;
  const otherVectors = [...readVectors(point.vector)].filter(([name]) => name !== KEYWORD_SLOT);
  const members = [...otherVectors, [KEYWORD_SLOT, keywords] as const];
  const texts = members.map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return { ...point, vector: asJsonText(`{${texts.join(',')}}`) };
}

/** Leaves only the unnamed vector, for a collection without a keyword slot. */
export function dropKeywords(point: Point): Point {
  const dense = readUnnamedVector(point.vector);
  return dense === undefined ? point : { ...point, vector: asJsonText(dense) };
}

// The JSON is an array if the point has only the unnamed vector; otherwise an object, with the unnamed vector under the empty name.
// The last result is cached: a vector is read several times in a row, and a comparison spends most of its time on scanning.
function readVectors(vector: PointVector): ReadonlyMap<string, JsonText> {
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
