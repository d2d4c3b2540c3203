// A rehearsal counts every memory that has changed or disappeared as lost.
import { expect, it } from 'vitest';
import type { VectorStore } from '../../../../../lib/migration/adapters/qdrant.ts';
import { digestUser } from '../../../../../lib/migration/points.ts';
import { compareMemories, readMemories } from '../../../../../sandbox/rehearsal/memories.ts';
import { createPoint } from '../../../support/vector-stores.ts';

const ADA = digestUser('ada');
const BOB = digestUser('bob');
const [ONE, TWO, THREE] = [
  createPoint(1, '{"user_id":"ada","n":10.0}', '[1,0,0,0]'),
  createPoint(2, '{"user_id":"ada"}', '[0,1,0,0]'),
  createPoint(3, '{"user_id":"bob"}', '[0,0,1,0]'),
];
const FILLED = '{"":[1,0,0,0],"bm25":{"indices":[3],"values":[1]}}';

function createMemories(...points: readonly ReturnType<typeof createPoint>[]) {
  const scroll = async () => ({ points, nextOffset: null });
  return readMemories({ scroll } as unknown as VectorStore, 'any');
}

it.each([
  ['with keyword vectors', [createPoint(1, ONE.payload, FILLED), TWO, THREE], [], [], 0],
  ['without a memory', [ONE, THREE], [`2 of ${ADA} is missing`], [], 1],
  [
    'with a number written differently',
    [createPoint(1, '{"user_id":"ada","n":10}', '[1,0,0,0]'), TWO, THREE],
    [`1 of ${ADA} has a different payload`],
    [],
    0,
  ],
  [
    'with a different vector',
    [ONE, TWO, createPoint(3, THREE.payload, '[0,0,0,1]')],
    [`3 of ${BOB} has a different vector`],
    [],
    0,
  ],
  [
    'with a memory of another user',
    [ONE, createPoint(2, '{"user_id":"bob"}', '[0,1,0,0]'), THREE],
    [`2 of ${ADA} has a different payload`],
    [],
    2,
  ],
  [
    'with a new memory',
    [ONE, TWO, THREE, createPoint(4, '{"user_id":"bob"}')],
    [],
    [`4 of ${BOB} did not exist before`],
    1,
  ],
] as const)(
  "users' memories are compared: %s",
  async (_, after, lost, unexpected, usersDiffering) => {
    const counts = { before: 3, after: after.length, users: 2, largest: 2 };
    const compared = compareMemories(
      await createMemories(ONE, TWO, THREE),
      await createMemories(...after),
    );
    expect(compared).toEqual({ ...counts, usersDiffering, lost, unexpected });
  },
);
