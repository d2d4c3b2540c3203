// Compares two sources of memories: collections, the last common version (`base`), and the figures of a report.
import { describe, expect, it, onTestFinished, test } from 'vitest';
import type { Base } from '../../../../lib/migration/base.ts';
import { digestPoint } from '../../../../lib/migration/points.ts';
import { formatPartKey } from '../../../../lib/migration/ports/artifacts.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import type { StepRequest } from '../../../../lib/migration/runs/step.ts';
import { scan } from '../../../../lib/migration/scan.ts';
import {
  type ComparisonCursor,
  compare,
  compareCounts,
  comparePages,
  haveSameMemories,
  type Tally,
} from '../../../../lib/migration/steps/comparison.ts';
import { NEW, OLD, startCopyScene } from '../../support/copy-scene.ts';
import { createMemoryArtifacts } from '../../support/memory-artifacts.ts';
import { walkPageByPage } from '../../support/page-walks.ts';
import { createRunTable } from '../../support/run-table.ts';
import { createPoint, pointId } from '../../support/vector-stores.ts';

const TEST_USER = testUserOf('spring');

const memory = (id: number, text: string, user = 'ada') =>
  createPoint(id, JSON.stringify({ user_id: user, data: text }), '[1,0,0,0]');

/** Kind of difference; then the memory's text in the active collection, the standby one and the last common version (`-`: absent) */
const KINDS = [
  ['same', 'a', 'a', 'a'],
  ['created equally on both sides', 'b', 'b', '-'],
  ['changed in the active one', 'b', 'a', 'a'],
  ['deleted in the active one', '-', 'a', 'a'],
  ['created in the active one', 'b', '-', '-'],
  ['changed in the standby one', 'a', 'b', 'a'],
  ['deleted in the standby one', 'a', '-', 'a'],
  ['created in the standby one', '-', 'b', '-'],
  ['changed in both', 'b', 'c', 'a'],
  ['changed in one, deleted in the other', 'b', '-', 'a'],
] as const;

async function createScene(kinds: readonly (readonly [string, string, string, string])[] = KINDS) {
  const { sandbox, store } = await startCopyScene({ count: 0 });
  onTestFinished(sandbox.close);
  const { store: artifacts } = createMemoryArtifacts(createRunTable().clock);
  const lines: string[] = [];
  for (const [id, [, activeText, standbyText, baseText]] of kinds.entries()) {
    if (activeText !== '-') await store.upsert(OLD, [memory(id, activeText)], 'upsert');
    if (standbyText !== '-') await store.upsert(NEW, [memory(id, standbyText)], 'upsert');
    const { payload } = memory(id, baseText);
    const digest = digestPoint(pointId(id), payload).toString('base64url');
    if (baseText !== '-') lines.push(`${id} ${digest}\n`);
  }
  await artifacts.put(formatPartKey('spring/base', 0), [Buffer.from(lines.join(''))]);
  const base: Base = { segments: [{ prefix: 'spring/base', parts: 1, from: null }] };
  const run = {
    runId: 'spring',
    evidence: { 'verification-report': { facts: { points: 3 } } },
  };
  const scope = { services: { vectors: store, artifacts }, run } as unknown as StepRequest;
  return { store, scope, base };
}

describe('two collections are compared memory by memory', () => {
  it('and the last common version tells which side changed a memory', async () => {
    const { scope, base } = await createScene();
    const { late, ...tally } = await compare(scope, { active: OLD, standby: NEW, base });
    expect(tally).toEqual({ points: 7, same: 2, common: 0, adds: 2, removes: 1, changes: 2 });
    expect(late).toEqual({ written: 4, lacking: 1, changed: 1, examples: ['5', '6'] });
  });

  it('and without a last common version, the active side prevails', async () => {
    const { scope } = await createScene();
    const { late, ...tally } = await compare(scope, { active: OLD, standby: NEW });
    expect(tally).toEqual({ points: 7, same: 2, common: 0, adds: 3, removes: 2, changes: 3 });
    expect(late).toEqual({ written: 0, lacking: 0, changed: 0, examples: [] });
  });

  it('and the memories of the test user do not count', async () => {
    const { scope, store } = await createScene([['same', 'a', 'a', 'a']]);
    await store.upsert(NEW, [memory(90, 'test', TEST_USER)], 'upsert');
    const tally = await compare(scope, { active: OLD, standby: NEW });
    expect(tally).toMatchObject({ points: 1, same: 1, removes: 0 });
    expect(await haveSameMemories(scope, OLD, NEW)).toBe(true);
  });

  it('in pages of any size, and each invocation resumes where the previous one ended', async () => {
    const { scope, base } = await createScene();
    const sources = { active: OLD, standby: NEW, base };
    for (const pageSize of [1, 3, 4]) {
      const { result, cursors } = await walkPageByPage<ComparisonCursor, Tally>((walk) =>
        comparePages(scope, sources, { pageSize, walk }),
      );
      expect(cursors.length + 1).toBe(Math.ceil(KINDS.length / pageSize));
      expect(result).toEqual(await compare(scope, sources));
    }
  });

  it('and a difference in the vector alone counts', async () => {
    const { scope, base, store } = await createScene();
    const changed = { ...memory(0, 'a'), vector: createPoint(0, '{}', '[0,1,0,0]').vector };
    // Without a slot for keyword vectors, only the vectors of the texts are compared.
    const vectors = { keywords: 'no-slot' };
    const sources = { active: OLD, standby: NEW, base, vectors };
    expect(await compare(scope, sources)).toMatchObject({ same: 2, common: 1, changes: 2 });
    await store.upsert(NEW, [changed], 'upsert');
    expect(await compare(scope, sources)).toMatchObject({ same: 1, common: 0, changes: 3 });
  });

  it('and of many differences only a few are named', async () => {
    const kinds = Array.from({ length: 20 }, () => ['changed', 'a', 'b', 'a'] as const);
    const { scope, base } = await createScene(kinds);
    const { late } = await compare(scope, { active: OLD, standby: NEW, base });
    expect([late.changed, late.examples.length]).toEqual([20, 8]);
  });
});

it('one collection is compared with the last common version', async () => {
  const { scope, base } = await createScene();
  const tally = await compare(scope, { active: OLD, standby: { base } });
  expect(tally).toMatchObject({ points: 7, same: 3, adds: 2, removes: 1, changes: 3 });
});

it('if there is no last common version to compare with, every memory counts as added', async () => {
  const { scope } = await createScene();
  const tally = await compare(scope, { active: OLD, standby: { base: undefined } });
  expect(tally).toMatchObject({ points: 0, adds: 8, removes: 0, changes: 0 });
});

describe('two sources have the same memories', () => {
  const EQUAL = [
    ['one', 'a', 'a', 'a'],
    ['another', 'b', 'b', 'b'],
  ] as const;

  it('if the sums of their digests are equal', async () => {
    const { scope, base, store } = await createScene(EQUAL);
    // The sum of all digests: a base records it as its digest, a report as its fingerprint.
    const { digest } = (await scan({ store, collection: OLD })).contents;
    const sources = [NEW, { base }, { base: { ...base, digest } }, { fingerprint: digest }];
    for (const source of sources) {
      expect(await haveSameMemories(scope, OLD, source)).toBe(true);
    }
    await store.deletePoints(OLD, { ids: [pointId(0)] });
    for (const source of sources) {
      expect(await haveSameMemories(scope, OLD, source)).toBe(false);
    }
  });

  test.each([{ base: undefined }, { fingerprint: undefined }])(
    'only if the sums of both are known: %j',
    async (unknown) => {
      const { scope } = await createScene(EQUAL);
      expect(await haveSameMemories(scope, OLD, unknown)).toBe(false);
    },
  );
});

test.each([
  [2, { points: 3, adds: 0, removes: 1, changes: 0 }],
  [3, { points: 3, adds: 0, removes: 0, changes: 0 }],
  [5, { points: 3, adds: 2, removes: 0, changes: 0 }],
])(
  'a collection of %s memories is compared with a report that counted 3',
  async (count, expected) => {
    const { scope, store } = await createScene([]);
    for (let id = 0; id < count; id += 1) await store.upsert(OLD, [memory(id, 'a')], 'upsert');
    expect(await compareCounts(scope, OLD)).toEqual(expected);
  },
);
