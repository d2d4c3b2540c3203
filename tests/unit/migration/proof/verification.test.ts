// A verification fails for every way in which a copy can be wrong, and names it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { Point } from '../../../../lib/migration/ports/vector-store.ts';
import { verifyCopy } from '../../../../lib/migration/proof/verification.ts';
import {
  type CopyScene,
  copyAll,
  NEW,
  startCopyScene,
  verifyScene,
} from '../../../support/copy-scene.ts';
import { point, pointId } from '../../../support/vector-stores.ts';

const COUNT = 120;
const UNUSED = pointId(3);

let set: CopyScene;

beforeEach(async () => {
  set = await startCopyScene({ count: COUNT, pageSize: 50 });
  await copyAll(set);
});
afterEach(() => set.sandbox.close());

/** The first point of the copy that has such a payload. */
async function pointLike(pattern: RegExp): Promise<Point> {
  const { points } = await set.store.scroll(NEW, { limit: COUNT });
  const found = points.find(({ payload }) => pattern.test(payload));
  if (!found?.vector) throw new Error(`No point like ${pattern}`);
  return { ...found, vector: found.vector };
}

async function withPayload(pattern: RegExp, replacement: string): Promise<void> {
  const found = await pointLike(pattern);
  const payload = asJsonText<Record<string, unknown>>(found.payload.replace(pattern, replacement));
  await set.store.upsert(NEW, [{ ...found, payload }], 'upsert');
}

test('passes a faithful copy, and fingerprints its source', async () => {
  const report = await verifyScene(set);
  expect(report).toMatchObject({
    isPassed: true,
    faults: [],
    counts: { source: 120, target: 120 },
  });
  expect(report.sourceFingerprint).toMatch(/^[\da-f]{64}$/);
  expect((await verifyScene(set)).sourceFingerprint).toBe(report.sourceFingerprint);
});

describe('fails for', () => {
  test.each<[string, readonly string[], () => Promise<void>]>([
    [
      'a skipped point',
      ['totals-differ', 'points-missing', 'payloads-differ', 'users-differ'],
      async () => set.store.deletePoints(NEW, { ids: [(await pointLike(/user-1"/)).id] }),
    ],
    [
      'a point too many',
      ['totals-differ', 'points-extra', 'payloads-differ', 'users-differ'],
      () => set.store.upsert(NEW, [{ ...point(0, '{}'), id: UNUSED }], 'upsert'),
    ],
    [
      'a point under another id',
      ['points-missing', 'points-extra', 'payloads-differ'],
      async () => {
        const moved = await pointLike(/user-2"/);
        await set.store.deletePoints(NEW, { ids: [moved.id] });
        await set.store.upsert(NEW, [{ ...moved, id: UNUSED }], 'upsert');
      },
    ],
    ['10 for 10.0', ['payloads-differ'], () => withPayload(/10\.0/, '10')],
    [
      'a rounded integer',
      ['payloads-differ'],
      () => withPayload(/9007199254740993/, '9007199254740992'),
    ],
    ['a dropped key', ['payloads-differ'], () => withPayload(/"tiny":1e-7,/, '')],
    [
      'a memory of another user',
      ['payloads-differ', 'users-differ'],
      () => withPayload(/user-3"/, 'user-4"'),
    ],
    [
      'a user id that became a number',
      ['payloads-differ', 'users-differ'],
      () => withPayload(/"user-3"/, '3'),
    ],
    [
      'another vector',
      ['vectors-differ'],
      async () => {
        await withDense(await pointLike(/user-5"/), [1, 0, 0, 0]);
      },
    ],
    [
      'a keyword vector that is missing',
      ['keywords-missing'],
      async () => {
        const found = await pointLike(/user-5"/);
        const vector = asJsonText<number[]>(/"":(\[[^\]]*\])/.exec(found.vector)?.[1] ?? '');
        await set.store.upsert(NEW, [{ ...found, vector }], 'upsert');
      },
    ],
  ])('%s', async (_, faults, damage) => {
    await damage();
    const report = await verifyScene(set);
    expect(report.faults).toEqual(faults);
    expect(report.isPassed).toBe(false);
  });

  test('a write while it was comparing', async () => {
    const { source, target } = set.settings;
    const saveCheckpoint = async ({ isComplete }: { isComplete: boolean }) => {
      if (isComplete) await set.store.upsert(NEW, [{ ...point(0, '{}'), id: UNUSED }], 'upsert');
    };
    const settings = { source, target, pageSize: 50, vectors: 'all' } as const;
    const { report } = await verifyCopy(settings, { saveCheckpoint });
    expect(report?.faults).toEqual(['totals-differ', 'changed-meanwhile']);
  });
});

test('passes a payload whose keys come in another order', async () => {
  const payload = '{"user_id":"a","data":"x","n":{"b":1.0,"a":2}}';
  const reordered = '{"n":{"a":2,"b":1.0},"data":"x","user_id":"a"}';
  await set.store.upsert(set.settings.source.collection, [point(3, payload)], 'upsert');
  const vector = '{"":[1,0,0,0],"bm25":{"indices":[1],"values":[1]}}';
  await set.store.upsert(NEW, [point(3, reordered, vector)], 'upsert');
  expect((await verifyScene(set)).faults).toEqual([]);
});

test('passes a last bit of a vector, and no more', async () => {
  const nearly = await pointLike(/user-5"/);
  const dense = JSON.parse(nearly.vector)[''] as number[];
  const withFirst = (by: number) => withDense(nearly, dense.with(0, (dense[0] ?? 0) + by));
  await withFirst(3e-7);
  expect((await verifyScene(set)).faults).toEqual([]);
  await withFirst(1e-4);
  expect((await verifyScene(set)).faults).toEqual(['vectors-differ']);
});

describe('a sample of the vectors', () => {
  const sampled = (sample: number, seed: string) => {
    const { source, target } = set.settings;
    const settings = { source, target, pageSize: 50, vectors: { sample, seed } };
    return verifyCopy(settings, { saveCheckpoint: async () => undefined });
  };

  test('is about as large as asked for and the same for the same seed', async () => {
    const first = await sampled(60, 'run-1');
    const { vectorsCompared = 0 } = first.report?.findings ?? {};
    expect(Math.abs(vectorsCompared - 60)).toBeLessThan(25);
    expect(first.report?.isPassed).toBe(true);
    expect(await sampled(60, 'run-1')).toEqual(first);
  });

  test('of all finds what is wrong, and keywords are looked at whatever the sample', async () => {
    await withDense(await pointLike(/user-5"/), [1, 0, 0, 0]);
    expect((await sampled(COUNT, 'any')).report?.faults).toEqual(['vectors-differ']);
    const { withText, withoutKeywords } = (await sampled(10, 'any')).report?.findings ?? {};
    expect([withText, withoutKeywords?.count]).toEqual([117, 0]);
  });
});

async function withDense(found: Point, dense: readonly number[]): Promise<void> {
  const vector = asJsonText<number[]>(JSON.stringify({ ...JSON.parse(found.vector), '': dense }));
  await set.store.upsert(NEW, [{ ...found, vector }], 'upsert');
}
