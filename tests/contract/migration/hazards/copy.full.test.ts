// Fears of a copy that is not the same: written to meanwhile, mangled, miscounted, done twice, out of room.
import { describe, expect, it } from 'vitest';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { PointPayload, ScrolledPoint } from '../../../../lib/migration/ports/vector-store.ts';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import {
  deleteFirst,
  evidenceOf,
  fingerprintOf,
  firstPoint,
  standingOf,
  writeToOld,
} from '../../../support/migration/holdings.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { point } from '../../../support/vector-stores.ts';

async function expectEqual({ services, target }: Migration): Promise<void> {
  const { vectors } = services;
  expect(await fingerprintOf(vectors, target)).toEqual(await fingerprintOf(vectors, SOURCE));
}

describe('Fear 6: writes during the copy', () => {
  it('neither lose nor bring back a memory: the comparison repairs what differs', async () => {
    const migration = await migrationAt('rebuilt');
    const { vectors } = migration.services;
    let isWritten = false;
    const meanwhile: typeof vectors = {
      ...vectors,
      async upsert(...request) {
        if (!isWritten) {
          isWritten = true;
          // In this order: a memory written first might itself come first, by its random id.
          await deleteFirst(migration, SOURCE);
          await writeToOld(migration, 'Ada has bought a boat');
        }
        return await vectors.upsert(...request);
      },
    };
    await migration.finish('copy', {}, { ...migration.services, vectors: meanwhile });
    const { facts } = await evidenceOf(migration, 'verification-report');
    expect(facts).toMatchObject({ inserted: 61, deleted: 1, pending: 0 });
    await expectEqual(migration);
  });

  it('after the verification stop the cutover', async () => {
    const migration = await migrationAt('switching');
    await writeToOld(migration, 'Written after the verification');
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedSourceChanged'));
    expect(migration.operator.heard).not.toContain('open-writes');
    const before = await fingerprintOf(migration.services.vectors, SOURCE);
    await migration.finish('rollback', { actor: 'machine' });
    expect(await standingOf(migration)).toEqual({
      old: before,
      active: SOURCE,
      phase: 'rolled-back',
    });
  });
});

describe('Fear 8: counts are equal, contents are not', () => {
  type Mangling = (point: ScrolledPoint) => ScrolledPoint;
  const withPayload = (change: (payload: string) => string): Mangling => {
    return (point) => ({ ...point, payload: asJsonText(change(point.payload)) });
  };
  const MANGLINGS: readonly (readonly [string, Mangling])[] = [
    ['a number that was written otherwise', withPayload((p) => p.replace('10.0', '10'))],
    [
      'a large integer that was rounded',
      withPayload((p) => p.replace('9007199254740993', '9007199254740992')),
    ],
    ['a key that was dropped', withPayload((p) => p.replace(',"score":10.0', ''))],
    ['another user', withPayload((p) => p.replace('"user-1"', '"user-2"'))],
    [
      'another vector',
      (point) => ({
        ...point,
        vector: asJsonText(point.vector?.replace(/"":\[[^\]]*\]/, '"":[0,0,0,0,0,0,0,1]') ?? ''),
      }),
    ],
  ];

  it.each(MANGLINGS)('%s is found, and copied again', async (_, mangle) => {
    const migration = await migrationAt('started');
    const { vectors } = migration.services;
    const payload = '{"user_id":"user-1","data":"Ada sails","score":10.0,"big":9007199254740993}';
    const vector = '[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]';
    await vectors.upsert(SOURCE, [point(1, payload, vector)], 'upsert');
    await migration.follow('preflight', 'backup', 'rebuild', 'copy');
    const mangled = mangle(await firstPoint(migration, migration.target));
    if (!mangled.vector) throw new Error('No vector');
    await vectors.upsert(migration.target, [{ ...mangled, vector: mangled.vector }], 'upsert');
    expect(await vectors.count(migration.target)).toBe(await vectors.count(SOURCE));
    await migration.finish('copy');
    const { facts } = await evidenceOf(migration, 'verification-report');
    expect(facts).toMatchObject({ inserted: 0, replaced: 1, deleted: 0, pending: 0 });
    await expectEqual(migration);
  });
});

describe('Fear 9: a false alarm or a false all-clear of the counts per user', () => {
  it('a backend that counts up to a cap is reported, and stops nothing', async () => {
    const migration = await migrationAt('switching', { statsCap: 5 });
    const { facts } = (await migration.runs.read(RUN)).evidence['backup-manifest'] ?? {};
    expect(facts?.disagreements).toBe(5);
    await migration.finish('cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('a memory that has gone from one user to another is seen behind an equal total', async () => {
    const migration = await migrationAt('switching');
    const { vectors } = migration.services;
    const { id, vector, payload } = await firstPoint(migration, migration.target);
    if (!vector) throw new Error('No vector');
    const moved: PointPayload = asJsonText(
      payload.replace(/"user_id":"[^"]*"/, '"user_id":"somebody-else"'),
    );
    await vectors.upsert(migration.target, [{ id, vector, payload: moved }], 'upsert');
    const before = await standingOf(migration);
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedVerification'));
    expect(migration.operator.heard).not.toContain('open-writes');
    await migration.finish('rollback', { acknowledgedLoss: 1 });
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'rolled-back' });
  });
});

describe('Fear 12: the client gives up, the server goes on, and a retry does it twice', () => {
  it('an upsert whose answer is lost is no second memory', async () => {
    const migration = await migrationAt('rebuilt');
    const on = /^PUT .*_v3_.*\/points\?/;
    migration.qdrant.fault({ on, when: 'after', does: { kind: 'drop' } });
    await migration.finish('copy');
    await expectEqual(migration);
  });

  it.each(['before', 'after'] as const)(
    'a write that the store has only taken on, answered %s it is done, is none',
    async (when) => {
      const migration = await migrationAt('rebuilt');
      const before = await standingOf(migration);
      const body = '{"result":{"operation_id":7,"status":"wait_timeout"},"status":"ok","time":1}';
      const does = { kind: 'answer', status: 200, body } as const;
      migration.qdrant.fault({ on: /^PUT .*_v3_.*\/points\?/, when, does });
      await expect(migration.finish('copy')).rejects.toEqual(named('RetryableUnavailable'));
      expect(await migration.runs.readCheckpoint(RUN, 'copy')).toBeUndefined();
      expect(await standingOf(migration)).toEqual(before);
      await migration.finish('copy');
      await expectEqual(migration);
    },
  );

  it('a snapshot whose acceptance is lost is not asked for again', async () => {
    const migration = await migrationAt('preflighted');
    const { vectors } = migration.services;
    let asked = 0;
    const losing: typeof vectors = {
      ...vectors,
      async startSnapshot(collection) {
        asked += 1;
        await vectors.startSnapshot(collection);
        throw new RetryableFailure('RetryableUnavailable', 'The connection broke');
      },
    };
    const spoken = { ...migration.services, vectors: losing };
    await migration.finish('backup', {}, spoken);
    expect(asked).toBe(1);
    expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
  });

  it('a second invocation waits for the lock, and one thought dead writes nothing more', async () => {
    const migration = await migrationAt('rebuilt');
    const before = await standingOf(migration);
    const { vectors } = migration.services;
    const overtaken: typeof vectors = {
      ...vectors,
      async scroll(...request) {
        await expect(migration.lock.take(RUN)).rejects.toEqual(named('RetryableLockHeld'));
        migration.pass(3_600_000);
        await migration.lock.take(RUN);
        return await vectors.scroll(...request);
      },
    };
    const attempt = migration.finish('copy', {}, { ...migration.services, vectors: overtaken });
    await expect(attempt).rejects.toEqual(named('RefusedLockLost'));
    expect(await vectors.count(migration.target)).toBe(0);
    expect(await standingOf(migration)).toEqual(before);
  });
});

describe('Fear 13: disk or memory of the store is exhausted', () => {
  it.each([
    ['too little', { freeBytes: 1_000 }, 'RefusedPrerequisites'],
    ['unknown', { freeBytes: undefined }, 'RefusedPrerequisites'],
  ] as const)('room that is %s stops the preflight', async (_, plan, refusal) => {
    const migration = await migrationAt('started', {}, plan);
    const before = await standingOf(migration);
    await expect(migration.finish('preflight')).rejects.toEqual(named(refusal));
    expect(await standingOf(migration)).toEqual(before);
  });

  it('a store that is full stops the copy, which goes on when there is room', async () => {
    const migration = await migrationAt('rebuilt');
    const before = await standingOf(migration);
    const body = '{"status":{"error":"No space left on device"},"time":0,"result":null}';
    const does = { kind: 'answer', status: 507, body } as const;
    migration.qdrant.fault({ on: /^PUT .*_v3_.*\/points\?/, does });
    await expect(migration.finish('copy')).rejects.toEqual(named('RefusedStoreFull'));
    expect(await standingOf(migration)).toEqual(before);
    await migration.finish('copy');
    await expectEqual(migration);
  });

  it.each([
    ['turns red', { status: 'red' }],
    ['cannot be optimized', { optimizer_status: { error: 'No space left on device' } }],
  ] as const)('a target that %s in the midst of the copy gets no more', async (_, trouble) => {
    const migration = await migrationAt('rebuilt', { memories: 1_000 });
    const { vectors } = migration.services;
    let writes = 0;
    const troubled: typeof vectors = {
      ...vectors,
      async collectionInfo(name) {
        const info = await vectors.collectionInfo(name);
        return info && writes >= 2 && name === migration.target ? { ...info, ...trouble } : info;
      },
      async upsert(...request) {
        writes += 1;
        return await vectors.upsert(...request);
      },
    };
    const attempt = migration.finish('copy', {}, { ...migration.services, vectors: troubled });
    await expect(attempt).rejects.toEqual(named('RefusedByStore'));
    const checkpoint = await migration.runs.readCheckpoint(RUN, 'copy');
    const copied = await vectors.count(migration.target);
    expect([writes, checkpoint?.progress]).toMatchObject([2, { done: copied, total: 1_000 }]);
    await migration.finish('copy');
    await expectEqual(migration);
  });

  it('a store that says so with a 500 is full as well', async () => {
    const migration = await migrationAt('rebuilt');
    const body =
      '{"status":{"error":"Service internal error: No space left on device (os error 28)"}}';
    const does = { kind: 'answer', status: 500, body } as const;
    migration.qdrant.fault({ on: /^PUT .*_v3_.*\/points\?/, does });
    await expect(migration.finish('copy')).rejects.toEqual(named('RefusedStoreFull'));
    await migration.finish('copy');
    await expectEqual(migration);
  });

  it.each(['source', 'target'])('a %s that has turned red gets no more writes', async (side) => {
    const migration = await migrationAt('rebuilt');
    const before = await standingOf(migration);
    const { vectors } = migration.services;
    const troubled: typeof vectors = {
      ...vectors,
      async collectionInfo(name) {
        const info = await vectors.collectionInfo(name);
        const isTroubled = name === (side === 'source' ? SOURCE : migration.target);
        return info && isTroubled ? { ...info, status: 'red' } : info;
      },
    };
    const attempt = migration.finish('copy', {}, { ...migration.services, vectors: troubled });
    await expect(attempt).rejects.toEqual(named('RefusedByStore'));
    expect(await vectors.count(migration.target)).toBe(0);
    expect(await standingOf(migration)).toEqual(before);
  });
});
