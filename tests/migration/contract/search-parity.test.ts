// The comparison of searches in two collections distinguishes real differences from harmless ones.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { listFindings, measureParity, sampleMemories } from '../../../lib/migration/parity.ts';
import { addKeywordText } from '../../../lib/migration/points.ts';
import type { Hit, Point } from '../../../lib/migration/ports/vector-store.ts';
import { Paused, resume, UNINTERRUPTED } from '../../../lib/migration/runs/journal.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';
import { itInFull, oneInEvery } from '../../shared/support/quick-cases.ts';
import { createPoint, NEW_LAYOUT, OLD_LAYOUT } from '../support/vector-stores.ts';

type Search = VectorStore['search'];

const TEST_USER = '__migration_test_run-a';

let sandbox: QdrantSandbox;
let store: VectorStore;
let filledPairs = 0;

beforeAll(async () => {
  sandbox = await startQdrantSandbox();
  store = createQdrant({ url: sandbox.url, fetch: sandbox.fetch });
});
afterAll(() => sandbox.close());

const WORDS = [
  'cello',
  'boat',
  'garden',
  'chess',
  'Lisbon',
  'tea',
  'violin',
  'snow',
  'bread',
  'owls',
];

const createId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/**
 * Creates a memory whose vector turns with `n`.
 * @param text if empty, the memory has no text
 */
function createMemory(
  n: number,
  user: string,
  text: string | undefined = `likes ${WORDS[n % 10]} ${n}`,
) {
  const createdAt = new Date(1.7e12 + n * 1_000).toISOString();
  const vector = [Math.cos(n / 40), Math.sin(n / 40), Math.cos(n / 7) / 9, 0.1];
  const payload = JSON.stringify({
    user_id: user,
    created_at: createdAt,
    ...(text && { data: text }),
  });
  return createPoint(createId(n), payload, JSON.stringify(vector));
}

const createMemories = (count: number, user: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => createMemory(n, user(n)));

async function fillCollections(points: readonly Point[]) {
  filledPairs += 1;
  const names = { from: `old-${filledPairs}`, to: `new-${filledPairs}` };
  await store.createCollection(names.from, OLD_LAYOUT);
  await store.createCollection(names.to, NEW_LAYOUT);
  await store.upsert(names.from, points, 'upsert');
  await store.upsert(names.to, points.map(addKeywordText), 'upsert');
  return names;
}

type Names = Awaited<ReturnType<typeof fillCollections>>;

/** More invocations than any measurement in this file needs */
const MAX_INVOCATIONS = 500;

/**
 * Compares the searches in two collections.
 * @param hasTime called before each stage, and after each page and batch; if it returns false, the invocation ends, and the next one
 *   continues
 */
async function measure({ from, to }: Names, search = store.search, hasTime = () => true) {
  const searchedStore = { ...store, search };
  const sides = {
    from: { store: searchedStore, collection: from },
    to: { store: searchedStore, collection: to },
  };
  const settings = { ...sides, hasKeywords: true, seed: 'run-a', excludedUser: TEST_USER };
  const timer = { hasTime, renewLease: async () => {}, workedMs: () => 0 };
  let recorded: unknown;
  const saveCursor = async (next: unknown) => {
    recorded = JSON.parse(JSON.stringify(next));
  };
  for (let invocation = 0; invocation < MAX_INVOCATIONS; invocation += 1) {
    const { stages } = resume(timer, { cursor: recorded, saveCursor });
    const parity = await measureParity(settings, stages).catch((error: unknown) => {
      if (!(error instanceof Paused)) throw error;
    });
    if (parity)
      return { parity, findings: listFindings(parity), bytes: JSON.stringify(recorded).length };
  }
  throw new Error(`The measurement did not end in ${MAX_INVOCATIONS} invocations`);
}

const EQUAL = { overlap: 1, firstInOld: 1, firstInNew: 1 };

describe('equal collections', () => {
  const equalMemories = Array.from({ length: 30 }, (_, n) => ({
    ...createMemory(1, 'a'),
    id: createMemory(n, 'a').id,
  }));
  it.each<[string, readonly Point[], object]>([
    [
      'of many users',
      createMemories(400, (n) => `user-${n % 9}`),
      { searched: 200, searchedByKeywords: 200 },
    ],
    ['of users with one memory each', createMemories(12, (n) => `user-${n}`), { searched: 12 }],
    ['of thirty copies of a memory', equalMemories, { searched: 30, foundByKeywords: 30 }],
    [
      'of memories without text',
      [createMemory(1, 'a', ''), createMemory(2, 'a', 'the and of')],
      { searched: 2, searchedByKeywords: 0 },
    ],
    [
      'of points without a user, and of the test user',
      [createPoint(1, '{}'), createMemory(2, TEST_USER), createMemory(3, 'a')],
      { searched: 1 },
    ],
    ['without points', [], { searched: 0 }],
  ])('%s produce no finding', async (_, points, figures) => {
    const { parity, findings } = await measure(await fillCollections(points));
    expect(parity).toMatchObject({ ...EQUAL, ...figures });
    expect(parity.foundByKeywords).toBe(parity.searchedByKeywords);
    expect(findings).toEqual([]);
  });
});

it.each([
  [2, []],
  [4, [expect.stringMatching(/^97\.3 % .* by their own keywords/)]],
])(
  'memories without keywords are a finding above 2 %%: %d of 150',
  async (withoutKeywords, expected) => {
    const points = createMemories(150, (n) => `user-${n % 9}`);
    const names = await fillCollections(points);
    await store.upsert(names.to, points.slice(0, withoutKeywords), 'upsert');
    const { parity, findings } = await measure(names);
    expect(parity.foundByKeywords).toBe(parity.searchedByKeywords - withoutKeywords);
    expect(findings).toEqual(expected);
  },
);

it('writes of users between the searches are not a finding', async () => {
  const names = await fillCollections(createMemories(60, (n) => `user-${n % 2}`));
  let searches = 0;
  const search: Search = async (...args) => {
    searches += 1;
    const written = createMemory(searches, 'user-0', 'written in the meantime');
    if (searches % 9 === 0)
      await store.upsert(
        names.from,
        [{ ...written, vector: createMemory(searches + 30, 'x').vector }],
        'upsert',
      );
    if (searches % 9 === 3) await store.deletePoints(names.from, { ids: [written.id] });
    return await store.search(...args);
  };
  const { parity, findings } = await measure(names, search);
  expect(parity.searched).toBeGreaterThan(20);
  expect(findings).toEqual([]);
});

/**
 * Creates a search that takes 5 ms.
 * @param change replaces the hits or the time of searches in `changedCollection`
 */
const createSearch =
  (changedCollection?: string, change: (hits: readonly Hit[]) => object = () => ({})): Search =>
  async (collection, request) => {
    const { hits } = await store.search(collection, request);
    return { hits, milliseconds: 5, ...(collection === changedCollection && change(hits)) };
  };

describe('a search in the new collection that', () => {
  const points = createMemories(300, (n) => `user-${n % 3}`);

  type Change = (hits: readonly Hit[]) => object;
  const CHANGES: readonly (readonly [string, Change, RegExp])[] = [
    [
      'misses one of five hits is a finding',
      (hits) => ({ hits: hits.filter((_, n) => n % 5 < 4) }),
      /80\.0 % are/,
    ],
    ['finds nothing is a finding', () => ({ hits: [] }), /0\.0 % are the same/],
    ['takes 400 ms is a finding', () => ({ milliseconds: 400 }), /the median search takes 400 ms/],
    [
      'takes three times as long, but only 15 ms, is not a finding',
      () => ({ milliseconds: 15 }),
      /^$/,
    ],
  ];
  it.each(oneInEvery(3, CHANGES))('%s', async (_, change, finding) => {
    const names = await fillCollections(points);
    const { findings } = await measure(names, createSearch(names.to, change));
    expect(findings.join()).toMatch(finding);
  });

  itInFull('is sometimes slow, like searches in the old one, is not a finding', async () => {
    const names = await fillCollections(points);
    let searches = 0;
    const search: Search = async (...args) => {
      searches += 1;
      return { ...(await store.search(...args)), milliseconds: searches % 7 === 0 ? 900 : 5 };
    };
    const { parity, findings } = await measure(names, search);
    expect(parity).toMatchObject({ oldMedianMs: 5, newMedianMs: 5, newP95Ms: parity.oldP95Ms });
    expect(findings).toEqual([]);
  });
});

itInFull(
  'a measurement in many invocations ends with the same figures, and stores little in between',
  async () => {
    const names = await fillCollections(createMemories(1_200, (n) => `user-${n % 300}`));
    let checks = 0;
    const uninterrupted = await measure(names, createSearch());
    const interrupted = await measure(names, createSearch(), () => {
      checks += 1;
      return checks % 3 !== 0;
    });
    expect(interrupted.parity).toEqual(uninterrupted.parity);
    expect(checks).toBeGreaterThan(10);
    expect(interrupted.bytes).toBeLessThan(64 * 1024);
  },
);

describe('a sample', () => {
  async function drawSample(points: readonly Point[], seed = 'run-a') {
    const names = await fillCollections(points);
    const from = { store, collection: names.from };
    const sample = await sampleMemories({ from, seed, excludedUser: TEST_USER }, UNINTERRUPTED);
    return sample.map(({ id }) => points.find((point) => point.id === id) as Point);
  }
  const readUser = ({ payload }: Point) => JSON.parse(payload).user_id as string;
  const readAge = ({ id }: Point) => Number(JSON.parse(id).slice(-12));

  it('includes all users even if one has nearly all memories, and each memory once', async () => {
    const sample = await drawSample(
      createMemories(1_600, (n) => (n % 40 === 0 ? `user-${n}` : 'user-1')),
    );
    expect(new Set(sample.map(readUser)).size).toBe(41);
    expect(new Set(sample).size).toBe(200);
  });

  it.each([
    ['of one user', () => 'user-1'],
    ['of many users', (n: number) => `user-${n % 300}`],
  ])('%s is spread over all ages', async (_, user) => {
    const quarters = (await drawSample(createMemories(1_600, user))).map((point) =>
      Math.floor(readAge(point) / 400),
    );
    for (const n of [0, 1, 2, 3])
      expect(quarters.filter((quarter) => quarter === n).length).toBeGreaterThan(25);
  });

  it('is the same for the same run, and differs for another run', async () => {
    const points = createMemories(900, (n) => `user-${n % 7}`);
    const [first, repeated, otherRun] = [
      await drawSample(points),
      await drawSample(points),
      await drawSample(points, 'run-b'),
    ];
    expect(repeated).toEqual(first);
    expect(otherRun).not.toEqual(first);
  });
});
