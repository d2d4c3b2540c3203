// The second pass finds everything that happened to the source since the copy, deletions too, and nothing else.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyDelta, DELTA_START } from '../../../../lib/migration/copy/delta.ts';
import { createPointWriter } from '../../../../lib/migration/copy/point-writer.ts';
import type { PointId } from '../../../../lib/migration/ports/vector-store.ts';
import {
  type CopyScene,
  copyAll,
  FORGETFUL,
  NEW,
  OLD,
  startCopyScene,
  verifyScene,
} from '../../../support/copy-scene.ts';
import { point, pointId } from '../../../support/vector-stores.ts';

const COUNT = 150;
const UNCHANGED = {
  isComplete: true,
  compared: COUNT,
  inserted: 0,
  replaced: 0,
  refilled: 0,
  deleted: 0,
};

let set: CopyScene;
let ids: readonly PointId[];

beforeEach(async () => {
  set = await startCopyScene({ count: COUNT, pageSize: 32 });
  await copyAll(set);
  ids = (await set.store.scroll(OLD, { limit: COUNT })).points.map(({ id }) => id);
});
afterEach(() => set.sandbox.close());

const at = (index: number): PointId => ids[index] ?? pointId(0);

function delta(ports: { isTimeUp?: () => boolean } = {}, from = DELTA_START) {
  const writer = createPointWriter({ ...set.settings, fillsKeywords: true });
  return copyDelta({ ...set.settings, writer }, { ...FORGETFUL, ...ports }, from);
}

test.each<[string, object, () => Promise<void>]>([
  ['nothing', {}, async () => undefined],
  [
    'new memories, before, between and after the others',
    { compared: COUNT + 3, inserted: 3 },
    async () => {
      const uuid = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
      const fresh = [0, 77, uuid].map((id) => point(id, '{"user_id":"user-1","data":"fresh"}'));
      await set.store.upsert(OLD, fresh, 'upsert');
    },
  ],
  [
    'deleted memories',
    { deleted: 40 },
    () => set.store.deletePoints(OLD, { ids: ids.slice(30, 70) }),
  ],
  [
    'a payload that differs in a number literal only',
    { replaced: 1 },
    async () => {
      const [old] = await set.store.retrieve(OLD, [at(3)]);
      const payload = old?.payload.replace(/\.0\b/, '.00').replace('{}', '{"n":1.0}') ?? '';
      const changed = { ...point(0, payload), vector: old?.vector ?? point(0, '').vector };
      await set.store.upsert(OLD, [{ ...changed, id: at(3) }], 'upsert');
    },
  ],
  [
    'a vector',
    { replaced: 1 },
    async () => {
      const [old] = await set.store.retrieve(OLD, [at(9)]);
      const changed = point(0, old?.payload ?? '', '[0,0,0,1]');
      await set.store.upsert(OLD, [{ ...changed, id: at(9) }], 'upsert');
    },
  ],
])('%s', async (_, found, happens) => {
  await happens();
  expect(await delta()).toMatchObject({ ...UNCHANGED, ...found });
  expect((await verifyScene(set)).faults).toEqual([]);
  expect(await delta()).toMatchObject({ inserted: 0, replaced: 0, deleted: 0 });
});

async function deleteKeywords(ids: readonly PointId[]): Promise<void> {
  const body = `{"points":[${ids.join(',')}],"vector":["bm25"]}`;
  const path = `/collections/${NEW}/points/vectors/delete?wait=true`;
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(set.sandbox.url + path, { method: 'POST', headers, body });
  expect(reply.status).toBe(200);
}

test('keyword vectors that were lost are filled again, and no other point is written', async () => {
  await deleteKeywords([at(20), at(90)]);
  expect((await verifyScene(set)).faults).toEqual(['keywords-missing']);
  expect(await delta()).toMatchObject({ ...UNCHANGED, refilled: 2 });
  expect((await verifyScene(set)).faults).toEqual([]);
  expect(await delta()).toMatchObject(UNCHANGED);
});

test('keyword vectors are not asked of a store that cannot make them', async () => {
  await deleteKeywords([at(20)]);
  const writer = createPointWriter({ ...set.settings, fillsKeywords: false });
  expect(await copyDelta({ ...set.settings, writer }, FORGETFUL)).toMatchObject(UNCHANGED);
});

test('replaced memories get their keyword vectors, too', async () => {
  const changed = { ...point(0, '{"data":"now plays the viola"}'), id: at(20) };
  await set.store.upsert(OLD, [changed], 'upsert');
  await delta();
  const [copied] = await set.store.retrieve(NEW, [at(20)]);
  expect(copied?.vector).toMatch(/"bm25"/);
});

test('a pass that stops when time is up goes on where it was, comparing nothing twice', async () => {
  await set.store.deletePoints(NEW, { ids: [at(5), at(100)] });
  let checkpoint = DELTA_START;
  const laps: number[] = [];
  while (!checkpoint.isComplete) {
    checkpoint = await delta({ isTimeUp: () => true }, checkpoint);
    laps.push(checkpoint.compared);
  }
  expect(laps).toEqual([32, 64, 96, 128, COUNT]);
  expect(checkpoint).toMatchObject({ ...UNCHANGED, inserted: 2 });
});
