// Generates memories like those that the old version writes: many users and unusual payloads, the same for the same seed.

import { createSeededRandom, type SeededRandom } from '../cli/seeded-random.ts';
import type { VectorStore } from '../lib/migration/adapters/qdrant.ts';
import { asJsonText, toJsonText } from '../lib/migration/json/json-text.ts';
import type { Point } from '../lib/migration/ports/vector-store.ts';
import { embed } from './memory-backend/embedding.ts';

interface MemoryPlan {
  readonly collection: string;
  readonly users: number;
  readonly memories: number;
  readonly dimensions: number;
  readonly seed: number;
}

const SUBJECTS = ['My sister', 'Grace Hopper', 'Our neighbour', 'The dentist', 'Zoë', '山田さん'];
const VERBS = ['plays', 'repairs', 'collects', 'teaches', 'dislikes', 'paints'];
const OBJECTS = ['the cello', 'old radios', 'stamps', 'ice skating', 'olives', '🚲 bicycles'];

// JSON texts instead of values, because JavaScript would change values such as 10.0 and 2^53 + 1, which a migration must
// preserve.
const ODDITIES = [
  '',
  ',"score":10.0',
  ',"ticket":9007199254740993',
  ',"nested":{"deep":[{"er":[-0.0,1e-7]}]}',
  ',"note":"\\u0000\\ud83d\\ude80 \\"quoted\\""',
  ',"empty":{},"list":[],"nothing":null',
];

/** Generates and stores one page at a time, so that any number of memories fits in RAM. */
export async function seedMemories(store: VectorStore, plan: MemoryPlan): Promise<void> {
  const { collection, memories } = plan;
  const random = createSeededRandom(plan.seed);
  for (let from = 0; from < memories; from += 256) {
    const length = Math.min(256, memories - from);
    const page = Array.from({ length }, (_, n) => createPoint(plan, from + n, random));
    await store.upsert(collection, page, 'upsert');
  }
}

function createPoint({ users, dimensions }: MemoryPlan, n: number, random: SeededRandom): Point {
  const { pick } = random;
  const text = `${pick(SUBJECTS)} ${pick(VERBS)} ${pick(OBJECTS)} (${n})`;
  const user = `user-${Math.floor(random.next() ** 2 * users)}`;
  const fields = `"user_id":${JSON.stringify(user)},"data":${JSON.stringify(text)}`;
  return {
    id: toJsonText(randomUuid(random)),
    vector: asJsonText(JSON.stringify(embed(text, dimensions))),
    payload: asJsonText(`{${fields}${pick(ODDITIES)}}`),
  };
}

function randomUuid({ integer }: SeededRandom): string {
  const hex = Array.from({ length: 32 }, () => integer(0, 15).toString(16)).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
}
