// Generates memories of many users, the same on every machine, with all the awkward payloads that a migration meets.

import { createSeededRandom, type SeededRandom } from '../cli/seeded-random.ts';
import { asJsonText } from '../lib/migration/json/json-text.ts';
import type { Point } from '../lib/migration/ports/vector-store.ts';
import { formatFloat32List } from './qdrant/float32-text.ts';
import { normalise } from './qdrant/vectors.ts';

export interface MemoriesOptions {
  readonly count: number;
  readonly dimensions: number;
  readonly users: number;
}

const SUBJECTS = ['Grace Hopper', 'my sister', 'the dentist', 'Łukasz', '山田さん', 'Zoë'];
const VERBS = ['likes', 'moved to', 'plays', 'is allergic to', 'works on', 'remembers'];
const THINGS = ['the cello', 'Amsterdam', 'green tea', 'peanuts', '🧗‍♀️ climbing', 'compilers'];

/** Payload fields in addition to the text. Parsing them in JavaScript would change most of them. */
const ODDITIES: readonly string[] = [
  '"score":10.0',
  '"epoch_ns":1754300950123456789,"big":9007199254740993,"small":-0.0',
  '"tiny":1e-7,"huge":1.5e300,"whole":100.0',
  '"nested":{"a":[1,[2.50,[{"b":[[[[{"c":[]}]]]]}]]],"empty":{},"none":null}',
  '"text":"quotes \\" and \\\\ \\n \\u0000 \u2028 👩‍👩‍👧","":"empty key","__proto__":1.0',
  '"tags":["a","ä",""],"flags":[true,false,null]',
];

export function* generateMemories({
  count,
  dimensions,
  users,
}: MemoriesOptions): Generator<Point, void, void> {
  for (let index = 0; index < count; index += 1) yield createMemory(index, dimensions, users);
}

function createMemory(index: number, dimensions: number, users: number): Point {
  const random = createSeededRandom(index);
  return {
    id: asJsonText(createId(index, random)),
    vector: asJsonText(randomVector(random, dimensions)),
    payload: asJsonText(createPayload(index, random, users)),
  };
}

// One memory in ten has an integer id, and half of those ids exceed 2^53.
function createId(index: number, random: SeededRandom): string {
  if (index % 10 === 0) return String(BigInt(index) + (index % 20 === 0 ? 2n ** 63n : 1n));
  const digits = Array.from({ length: 24 }, () => random.integer(0, 15).toString(16)).join('');
  const tail = index.toString(16).padStart(8, '0');
  return `"${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${digits.slice(18, 22)}${tail}"`;
}

function randomVector(random: SeededRandom, dimensions: number): string {
  const values = Float32Array.from({ length: dimensions }, () => random.between(-1, 1));
  return formatFloat32List(normalise(values));
}

// One payload in fifty is empty, and one in fifty names no user.
function createPayload(index: number, random: SeededRandom, users: number): string {
  if (index % 50 === 7) return '{}';
  const text = `${random.pick(SUBJECTS)} ${random.pick(VERBS)} ${random.pick(THINGS)}, ${index}`;
  const user = index % 50 === 8 ? [] : [`"user_id":"user-${index % users}"`];
  const members = [`"data":${JSON.stringify(text)}`, ...user, ODDITIES[index % ODDITIES.length]];
  return `{${members.join(',')},"created_at":"2026-03-01T08:00:00.000000-08:00"}`;
}
