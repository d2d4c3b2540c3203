// Comparison of searches in two collections of the store's sandbox: tells real differences from harmless ones.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { listFindings, measureParity, sampleMemories } from '../../../lib/migration/parity.ts';
import { withKeywordText } from '../../../lib/migration/points.ts';
import type { Hit, Point } from '../../../lib/migration/ports/vector-store.ts';
import { Paused, resume, UNINTERRUPTED } from '../../../lib/migration/runs/journal.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';
import { itInFull, oneInEvery } from '../../shared/support/quick-cases.ts';
import { createPoint, NEW_LAYOUT, OLD_LAYOUT } from '../support/vector-stores.ts';

type Search = VectorStore['search'];

const TESTER = '__migration_test_run-a';

let sandbox: QdrantSandbox;
let store: VectorStore;
let made = 0;

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

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/**
 * Makes a point whose vector turns with `n`.
 * @param text an empty text leaves the memory without one
 */
function memory(n: number, user: string, text: string | undefined = `likes ${WORDS[n % 10]} ${n}`) {
  const made = new Date(1.7e12 + n * 1_000).toISOString();
  const vector = [Math.cos(n / 40), Math.sin(n / 40), Math.cos(n / 7) / 9, 0.1];
  const payload = JSON.stringify({ user_id: user, created_at: made, ...(text && { data: text }) });
  return createPoint(uuid(n), payload, JSON.stringify(vector));
}

const createMemories = (count: number, user: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => memory(n, user(n)));

async function fillCollections(points: readonly Point[]) {
  made += 1;
  const names = { from: `old-${made}`, to: `new-${made}` };
  await store.createCollection(names.from, OLD_LAYOUT);
  await store.createCollection(names.to, NEW_LAYOUT);
  await store.upsert(names.from, points, 'upsert');
  await store.upsert(names.to, points.map(withKeywordText), 'upsert');
  return names;
}

type Names = Awaited<ReturnType<typeof fillCollections>>;

/**
 * Measures the parity of two collections, in as many invocations as that takes.
 * @param hasTime asked before each stage, and after each page and batch: if false, the measurement stops, and the next invocation
 *   resumes it
 */
async function measure({ from, to }: Names, search = store.search, hasTime = () => true) {
  const doubled = { ...store, search };
  const places = {
    from: { store: doubled, collection: from },
    to: { store: doubled, collection: to },
  };
  const settings = { ...places, hasKeywords: true, seed: 'run-a', without: TESTER };
  const timed = { hasTime, renew: async () => {}, workedMs: () => 0 };
  let recorded: unknown;
  const keep = async (next: unknown) => {
    recorded = JSON.parse(JSON.stringify(next));
  };
  for (;;) {
    const { stages } = resume(timed, { cursor: recorded, keep });
    const parity = await measureParity(settings, stages).catch((error: unknown) => {
      if (!(error instanceof Paused)) throw error;
    });
    if (parity)
      return { parity, findings: listFindings(parity), bytes: JSON.stringify(recorded).length };
  }
}

const SAME = { overlap: 1, firstInOld: 1, firstInNew: 1 };

describe('equal collections', () => {
  const same = Array.from({ length: 30 }, (_, n) => ({ ...memory(1, 'a'), id: memory(n, 'a').id }));
  it.each<[string, readonly Point[], object]>([
    [
      'of many users',
      createMemories(400, (n) => `user-${n % 9}`),
      { searched: 200, searchedByKeywords: 200 },
    ],
    ['of users with one memory each', createMemories(12, (n) => `user-${n}`), { searched: 12 }],
    ['of one memory thirty times', same, { searched: 30, foundByKeywords: 30 }],
    [
      'of memories without text',
      [memory(1, 'a', ''), memory(2, 'a', 'the and of')],
      { searched: 2, searchedByKeywords: 0 },
    ],
    [
      'of points without a user, and of the test user',
      [createPoint(1, '{}'), memory(2, TESTER), memory(3, 'a')],
      { searched: 1 },
    ],
    ['of nothing', [], { searched: 0 }],
  ])('%s have no finding', async (_, points, figures) => {
    const { parity, findings } = await measure(await fillCollections(points));
    expect(parity).toMatchObject({ ...SAME, ...figures });
    expect(parity.foundByKeywords).toBe(parity.searchedByKeywords);
    expect(findings).toEqual([]);
  });
});

it.each([
  [2, []],
  [4, [expect.stringMatching(/^97\.3 % .* by their own keywords/)]],
])('%d of 150 memories without keywords', async (lacking, expected) => {
  const points = createMemories(150, (n) => `user-${n % 9}`);
  const names = await fillCollections(points);
  await store.upsert(names.to, points.slice(0, lacking), 'upsert');
  const { parity, findings } = await measure(names);
  expect(parity.foundByKeywords).toBe(parity.searchedByKeywords - lacking);
  expect(findings).toEqual(expected);
});

it("a user's write between the searches is not a difference", async () => {
  const names = await fillCollections(createMemories(60, (n) => `user-${n % 2}`));
  let searches = 0;
  const search: Search = async (...args) => {
    searches += 1;
    const own = memory(searches, 'user-0', 'written in the meantime');
    if (searches % 9 === 0)
      await store.upsert(
        names.from,
        [{ ...own, vector: memory(searches + 30, 'x').vector }],
        'upsert',
      );
    if (searches % 9 === 3) await store.deletePoints(names.from, { ids: [own.id] });
    return await store.search(...args);
  };
  const { parity, findings } = await measure(names, search);
  expect(parity.searched).toBeGreaterThan(20);
  expect(findings).toEqual([]);
});

/**
 * Searches that each take 5 ms.
 * @param change replaces the hits or the time of searches in the collection `changed`
 */
const changeHits =
  (changed?: string, change: (hits: readonly Hit[]) => object = () => ({})): Search =>
  async (collection, request) => {
    const { hits } = await store.search(collection, request);
    return { hits, milliseconds: 5, ...(collection === changed && change(hits)) };
  };

describe('a search in the new collection', () => {
  const points = createMemories(300, (n) => `user-${n % 3}`);

  type Change = (hits: readonly Hit[]) => object;
  const CHANGES: readonly (readonly [string, Change, RegExp])[] = [
    ['misses one of five', (hits) => ({ hits: hits.filter((_, n) => n % 5 < 4) }), /80\.0 % are/],
    ['finds nothing', () => ({ hits: [] }), /0\.0 % are the same/],
    ['takes long', () => ({ milliseconds: 400 }), /the median search takes 400 ms/],
    ['takes three times as long, too little to notice', () => ({ milliseconds: 15 }), /^$/],
  ];
  it.each(oneInEvery(3, CHANGES))(
    'that %s is a finding where users would notice',
    async (_, change, finding) => {
      const names = await fillCollections(points);
      const { findings } = await measure(names, changeHits(names.to, change));
      expect(findings.join()).toMatch(finding);
    },
  );

  itInFull(
    'that is slow by chance, as searches in the old one are too, is not a finding',
    async () => {
      const names = await fillCollections(points);
      let asked = 0;
      const search: Search = async (...args) => {
        asked += 1;
        return { ...(await store.search(...args)), milliseconds: asked % 7 === 0 ? 900 : 5 };
      };
      const { parity, findings } = await measure(names, search);
      expect(parity).toMatchObject({ oldMedianMs: 5, newMedianMs: 5, newP95Ms: parity.oldP95Ms });
      expect(findings).toEqual([]);
    },
  );
});

itInFull(
  'a measurement that is interrupted repeatedly ends with the same figures, and stores little',
  async () => {
    const names = await fillCollections(createMemories(1_200, (n) => `user-${n % 300}`));
    let asked = 0;
    const whole = await measure(names, changeHits());
    const stopped = await measure(names, changeHits(), () => {
      asked += 1;
      return asked % 3 !== 0;
    });
    expect(stopped.parity).toEqual(whole.parity);
    expect(asked).toBeGreaterThan(10);
    expect(stopped.bytes).toBeLessThan(64 * 1024);
  },
);

describe('a sample', () => {
  async function drawSample(points: readonly Point[], seed = 'run-a') {
    const names = await fillCollections(points);
    const from = { store, collection: names.from };
    const sample = await sampleMemories({ from, seed, without: TESTER }, UNINTERRUPTED);
    return sample.map(({ id }) => points.find((one) => one.id === id) as Point);
  }
  const userOf = ({ payload }: Point) => JSON.parse(payload).user_id as string;
  const ageOf = ({ id }: Point) => Number(JSON.parse(id).slice(-12));

  it('includes all users even if one of them has nearly everything, and each memory once', async () => {
    const sample = await drawSample(
      createMemories(1_600, (n) => (n % 40 === 0 ? `user-${n}` : 'user-1')),
    );
    expect(new Set(sample.map(userOf)).size).toBe(41);
    expect(new Set(sample).size).toBe(200);
  });

  it.each([
    ['of one user', () => 'user-1'],
    ['of many users', (n: number) => `user-${n % 300}`],
  ])('%s is spread over all ages', async (_, user) => {
    const quarters = (await drawSample(createMemories(1_600, user))).map((one) =>
      Math.floor(ageOf(one) / 400),
    );
    for (const quarter of [0, 1, 2, 3])
      expect(quarters.filter((one) => one === quarter).length).toBeGreaterThan(25);
  });

  it('is the same for the same run, and differs for another run', async () => {
    const points = createMemories(900, (n) => `user-${n % 7}`);
    const [one, again, other] = [
      await drawSample(points),
      await drawSample(points),
      await drawSample(points, 'run-b'),
    ];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });
});
