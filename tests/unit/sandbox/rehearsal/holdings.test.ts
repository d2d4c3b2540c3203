// What the rehearsal calls lost: whatever is not what it was, memory by memory.
import { describe, expect, it } from 'vitest';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { userDigest } from '../../../../lib/migration/points.ts';
import { startQdrantSandbox } from '../../../../sandbox/qdrant/server.ts';
import { compareHoldings, holdingsOf } from '../../../../sandbox/rehearsal/holdings.ts';
import { NEW_LAYOUT, OLD_LAYOUT, point } from '../../../support/vector-stores.ts';

const ADA = userDigest('ada');
const BOB = userDigest('bob');

const BEFORE = [
  point(1, '{"user_id":"ada","n":10.0}', '[1,0,0,0]'),
  point(2, '{"user_id":"ada"}', '[0,1,0,0]'),
  point(3, '{"user_id":"bob"}', '[0,0,1,0]'),
];

async function compared(after: typeof BEFORE) {
  await using sandbox = await startStore();
  const { store } = sandbox;
  await store.createCollection('old', OLD_LAYOUT);
  await store.upsert('old', BEFORE, 'upsert');
  await store.createCollection('new', NEW_LAYOUT);
  if (after.length > 0) await store.upsert('new', after, 'upsert');
  return compareHoldings(await holdingsOf(store, 'old'), await holdingsOf(store, 'new'));
}

async function startStore() {
  const sandbox = await startQdrantSandbox();
  const store = createQdrant({ url: sandbox.url });
  return { store, [Symbol.asyncDispose]: sandbox.close };
}

describe('what users have now', () => {
  it('is what they had, though keyword vectors came with it', async () => {
    const [one, two, three] = BEFORE;
    const filled = '{"":[1,0,0,0],"bm25":{"indices":[3],"values":[1]}}';
    const after = [point(1, one?.payload ?? '', filled), two, three].filter((each) => !!each);
    expect(await compared(after)).toEqual({
      before: 3,
      after: 3,
      users: 2,
      usersDiffering: 0,
      largest: 2,
      lost: [],
      strange: [],
    });
  });

  it.each([
    ['a memory is missing', [BEFORE[0], BEFORE[2]], [`2 of ${ADA} is missing`], 1],
    [
      'a number is another one',
      [point(1, '{"user_id":"ada","n":10}', '[1,0,0,0]'), BEFORE[1], BEFORE[2]],
      [`1 of ${ADA} says something else`],
      0,
    ],
    [
      'a vector is another one',
      [BEFORE[0], BEFORE[1], point(3, '{"user_id":"bob"}', '[0,0,0,1]')],
      [`3 of ${BOB} has another vector`],
      0,
    ],
    [
      'a memory is somebody else’s',
      [BEFORE[0], point(2, '{"user_id":"bob"}', '[0,1,0,0]'), BEFORE[2]],
      [`2 of ${ADA} says something else`],
      2,
    ],
  ] as const)('is told by name where %s', async (_, after, lost, usersDiffering) => {
    const points = after.filter((each) => each !== undefined);
    expect(await compared(points)).toMatchObject({ lost, usersDiffering, strange: [] });
  });

  it('is told by name where there is more of it', async () => {
    const after = [...BEFORE, point(4, '{"user_id":"bob"}')];
    expect(await compared(after)).toMatchObject({
      lost: [],
      usersDiffering: 1,
      strange: [`4 of ${BOB} was not there before`],
    });
  });
});
