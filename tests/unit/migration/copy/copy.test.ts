// A copy keeps id, vector and payload of every point, fills keywords, and overwrites nothing.
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  COPY_START,
  type CopyCheckpoint,
  copyPoints,
} from '../../../../lib/migration/copy/copy.ts';
import { planCopy } from '../../../../lib/migration/copy/copy-plan.ts';
import { hasKeywords } from '../../../../lib/migration/copy/keyword-slot.ts';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import {
  type CopyScene,
  copyAll,
  createTarget,
  FORGETFUL,
  NEW,
  OLD,
  type SceneOptions,
  startCopyScene,
  verifyScene,
} from '../../../support/copy-scene.ts';
import { point, pointId } from '../../../support/vector-stores.ts';

vi.setConfig({ testTimeout: 60_000 });

const opened: CopyScene[] = [];

async function scene(options: SceneOptions): Promise<CopyScene> {
  const started = await startCopyScene(options);
  opened.push(started);
  return started;
}

afterEach(async () => {
  for (const { sandbox } of opened.splice(0)) await sandbox.close();
});

describe('a copy', () => {
  test('of 5,000 awkward points is equal to its source', async () => {
    const set = await scene({ count: 5_000, dimensions: 64, pageSize: 256 });
    expect(await copyAll(set)).toMatchObject({ isComplete: true, copied: 5_000 });
    const report = await verifyScene(set);
    expect(report.faults).toEqual([]);
    expect(report.findings).toMatchObject({ sourcePoints: 5_000, vectorsCompared: 5_000 });
    expect(report.findings.targetDigest).toBe(report.sourceFingerprint);
  });

  test('keeps the text of every payload, numbers to the letter', async () => {
    const set = await scene({ count: 200 });
    await copyAll(set);
    const request = { limit: 200, vector: false };
    expect(await set.store.scroll(NEW, request)).toEqual(await set.store.scroll(OLD, request));
  });

  test('gives every point with words a keyword vector, and no other', async () => {
    const set = await scene({ count: 200 });
    const { withText, withoutKeywords } = await copyAll(set);
    const { points } = await set.store.scroll(NEW, { limit: 200 });
    expect([withText, withoutKeywords]).toEqual([196, 0]);
    expect(points.filter(({ vector }) => hasKeywords(vector))).toHaveLength(196);
  });

  test.each([
    ['stop words only', 'To be, or not to be: that is it'],
    ['nothing but signs', '!? …'],
    ['no token that a query could ask for', 'x'.repeat(41)],
  ])('neither asks for nor misses a keyword vector of %s', async (_, text) => {
    const set = await scene({ count: 0 });
    const payload = JSON.stringify({ user_id: 'ada', data: text });
    await set.store.upsert(OLD, [point(1, payload)], 'upsert');
    expect(await copyAll(set)).toMatchObject({ copied: 1, withText: 0, withoutKeywords: 0 });
    expect((await verifyScene(set)).faults).toEqual([]);
  });

  test('a slot that is there and empty is a gap, unless the text has no token', async () => {
    const set = await scene({ count: 0 });
    const points = ['sails', 'that is it'].map((data, n) => point(n + 1, JSON.stringify({ data })));
    await set.store.upsert(OLD, points, 'upsert');
    await copyAll(set);
    const vector = '{"":[1,0,0,0],"bm25":{"indices":[],"values":[]}}';
    const empty = points.map((one) => ({ ...one, vector: asJsonText<number[]>(vector) }));
    await set.store.upsert(NEW, empty, 'upsert');
    const { faults, findings } = await verifyScene(set);
    expect(faults).toEqual(['keywords-missing']);
    expect(findings.withoutKeywords).toEqual({ count: 1, examples: ['1'] });
  });

  test('says how many points are left without a keyword vector where nobody makes one', async () => {
    const set = await scene({ count: 200, version: '1.15.2' });
    const left = await copyPoints({ ...set.settings, keywords: 'left-empty' }, FORGETFUL);
    expect(left).toMatchObject({ withText: 196, withoutKeywords: 196 });
    const report = await verifyScene(set);
    expect(report.faults).toEqual(['keywords-missing']);
    expect((await verifyScene(set, 196)).isPassed).toBe(true);
  });

  test.each([
    ['by the store', '1.17.0', 'by-store'],
    ['by asking first, before 1.17', '1.16.3', 'ask-first'],
  ] as const)('does not overwrite a newer write: %s', async (_, version, insertMode) => {
    const set = await scene({ count: 10, version });
    const { points } = await set.store.scroll(OLD, { limit: 1 });
    const id = points[0]?.id ?? pointId(0);
    await set.store.upsert(NEW, [{ ...point(0, '{"data":"newer"}'), id }], 'upsert');
    await copyPoints({ ...set.settings, insertMode }, FORGETFUL);
    expect(await set.store.count(NEW)).toBe(10);
    expect((await set.store.retrieve(NEW, [id]))[0]?.payload).toBe('{"data":"newer"}');
  });

  test('halves its batches until the store takes them', async () => {
    const set = await scene({ count: 100, pageSize: 100, maxBodyBytes: 8_000 + 24_000 });
    const small = await scene({ count: 0, maxBodyBytes: 8_000 });
    const target = { store: small.store, collection: NEW };
    await copyPoints({ ...set.settings, target }, FORGETFUL);
    expect(await small.store.count(NEW)).toBe(100);
  });

  test('fails by name over a single point that the store does not take', async () => {
    const set = await scene({ count: 3 });
    const small = await scene({ count: 0, maxBodyBytes: 150 });
    const target = { store: small.store, collection: NEW };
    const copying = copyPoints({ ...set.settings, target }, FORGETFUL);
    await expect(copying).rejects.toMatchObject({ name: 'RefusedByStore' });
  });

  test('saves a checkpoint only when what it tells of is in the target', async () => {
    const set = await scene({ count: 200 });
    const saved: [number, number][] = [];
    const saveCheckpoint = async ({ copied }: CopyCheckpoint) => {
      saved.push([copied, await set.store.count(NEW)]);
    };
    await copyPoints(set.settings, { saveCheckpoint });
    expect(saved).toEqual([64, 128, 192, 200].map((copied) => [copied, copied]));
  });

  test('stops when time is up and goes on from where it was', async () => {
    const set = await scene({ count: 200 });
    const ports = { ...FORGETFUL, isTimeUp: () => true };
    let checkpoint = COPY_START;
    const laps: number[] = [];
    while (!checkpoint.isComplete) {
      checkpoint = await copyPoints(set.settings, ports, checkpoint);
      laps.push(checkpoint.copied);
    }
    expect(laps).toEqual([64, 128, 192, 200]);
    expect((await verifyScene(set)).isPassed).toBe(true);
  });

  test('sends a batch again when its answer is lost, and nothing is there twice', async () => {
    const set = await scene({ count: 100 });
    const { sandbox, store } = set;
    sandbox.fault({ on: /^PUT .*\/points\?/, when: 'after', does: { kind: 'drop' } });
    sandbox.fault({ on: /^POST .*scroll/, does: { kind: 'answer', status: 503 } });
    expect(await copyAll(set)).toMatchObject({ isComplete: true, copied: 100 });
    expect(await store.count(NEW)).toBe(100);
    expect((await verifyScene(set)).isPassed).toBe(true);
  });

  test('stops at a refused key, and its checkpoint is that of the last batch', async () => {
    const set = await scene({ count: 100 });
    const saved: number[] = [];
    const saveCheckpoint = async ({ copied }: CopyCheckpoint) => {
      saved.push(copied);
      const answer = { kind: 'answer', status: 403, body: 'Forbidden' } as const;
      set.sandbox.fault({ on: /^PUT/, does: answer });
    };
    const copying = copyPoints(set.settings, { saveCheckpoint });
    await expect(copying).rejects.toMatchObject({ name: 'RefusedCredentials' });
    expect(saved).toEqual([64]);
  });

  test('writes nothing once another has taken over', async () => {
    const set = await scene({ count: 10 });
    const assertTurn = () => Promise.reject(new Error('not yours any more'));
    await expect(copyPoints(set.settings, { ...FORGETFUL, assertTurn })).rejects.toThrow('yours');
    expect(await set.store.count(NEW)).toBe(0);
  });

  test('of nothing is complete', async () => {
    const set = await scene({ count: 0 });
    expect(await copyAll(set)).toEqual({ ...COPY_START, isComplete: true });
  });
});

describe('a dry run', () => {
  const now = () => 0;
  const planned = { source: OLD, target: NEW, now };

  test('tells users and an estimate, and writes nothing', async () => {
    const set = await scene({ count: 700 });
    const { users, estimate } = await planCopy({ ...planned, store: set.store });
    expect(users).toMatchObject({ total: 700, withoutUser: 28, countedBy: 'facet' });
    expect(users.byUser.size).toBe(7);
    expect([...users.byUser.values()].reduce((sum, count) => sum + count, 28)).toBe(700);
    expect(estimate.bytes).toBeGreaterThan(700 * 50);
    expect(await set.store.count(NEW)).toBe(0);
  });

  test('counts alike by facet and by looking at every point', async () => {
    const set = await scene({ count: 300 });
    const { users: byFacet } = await planCopy({ ...planned, store: set.store });
    // An integer user id is in no keyword index: the facet no longer adds up.
    await set.store.upsert(OLD, [point(1, '{"user_id":5}')], 'upsert');
    const { users: byScroll } = await planCopy({ ...planned, store: set.store });
    expect(byScroll.countedBy).toBe('scroll');
    const expected = [...byFacet.byUser, ['5', 1]].sort();
    expect([...byScroll.byUser].sort()).toEqual(expected);
  });

  test.each([
    ['1.18.3', 'by-store', 'by-store'],
    ['1.16.3', 'ask-first', 'by-store'],
    ['1.15.2', 'ask-first', 'left-empty'],
  ] as const)('on %s inserts %s and fills keywords %s', async (version, insertMode, keywords) => {
    const { store } = await scene({ count: 1, version });
    const { settings } = await planCopy({ ...planned, store });
    expect(settings).toMatchObject({ insertMode, keywords, pageSize: 256 });
  });

  test('sees a target without a slot, and keeps to what strict mode allows', async () => {
    const { store } = await scene({ count: 20 });
    await store.deleteCollection(NEW);
    await store.createCollection(NEW, {
      vectors: { size: 4, distance: 'Cosine' },
      strict_mode_config: { enabled: true, upsert_max_batchsize: 9 },
    });
    const { settings } = await planCopy({ ...planned, store });
    expect(settings).toMatchObject({ keywords: 'no-slot', pageSize: 9 });
    await store.deleteCollection(NEW);
    await createTarget(store);
  });
});
