// Fears of a copy that is not the same: written to meanwhile, mangled, miscounted, done twice, out of room.
import { describe, expect, it } from 'vitest';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { PointPayload } from '../../../../lib/migration/ports/vector-store.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
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

async function expectEqual({ services, target }: Migration): Promise<void> {
  const { vectors } = services;
  expect(await fingerprintOf(vectors, target)).toEqual(await fingerprintOf(vectors, SOURCE));
}

describe('Fear 6: writes during the copy', () => {
  it('neither lose nor bring back a memory: the comparison repairs what differs', async () => {
    const migration = await migrationAt('rebuilt');
    const { vectors } = migration.services;
    let isWritten = false;
    const meanwhile: Partial<typeof vectors> = {
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
    await migration.finish('copy', {}, { vectors: meanwhile });
    const { facts } = await evidenceOf(migration, 'verification-report');
    expect(facts).toMatchObject({ inserted: 61, deleted: 1, pending: 0 });
    await expectEqual(migration);
  });
});

describe('Fear 9: a false alarm or a false all-clear of the counts per user', () => {
  it('a memory that has gone from one user to another is seen behind an equal total', async () => {
    const migration = await migrationAt('equal');
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
    await migration.finish('rollback');
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'copied' });
  });
});

describe('Fear 12: the client gives up, the server goes on, and a retry does it twice', () => {
  it('a second invocation waits for the lock, and one thought dead writes nothing more', async () => {
    const migration = await migrationAt('rebuilt');
    const before = await standingOf(migration);
    const { vectors } = migration.services;
    const overtaken: Partial<typeof vectors> = {
      async scroll(...request) {
        await expect(migration.lock.take(RUN)).rejects.toEqual(named('RetryableLockHeld'));
        migration.pass(3_600_000);
        await migration.lock.take(RUN);
        return await vectors.scroll(...request);
      },
    };
    const attempt = migration.finish('copy', {}, { vectors: overtaken });
    await expect(attempt).rejects.toEqual(named('RefusedLockLost'));
    expect(await vectors.count(migration.target)).toBe(0);
    expect(await standingOf(migration)).toEqual(before);
  });
});

describe('Fear 13: disk or memory of the store is exhausted', () => {
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
    ['target', 'turns red', { status: 'red' }],
    ['target', 'has no space', { optimizer_status: { error: 'No space left on device' } }],
  ] as const)('a %s that %s in the midst of the copy stops it', async (_, __, trouble) => {
    const migration = await migrationAt('rebuilt', { memories: 1_000 });
    const { vectors } = migration.services;
    let writes = 0;
    const troubled: Partial<typeof vectors> = {
      async collectionInfo(name) {
        const info = await vectors.collectionInfo(name);
        const isTroubled = name === migration.target && writes >= 2;
        return info && isTroubled ? { ...info, ...trouble } : info;
      },
      async upsert(...request) {
        writes += 1;
        return await vectors.upsert(...request);
      },
    };
    const attempt = migration.finish('copy', {}, { vectors: troubled });
    await expect(attempt).rejects.toEqual(named('RefusedByService'));
    const checkpoint = await migration.runs.readCheckpoint(RUN, 'copy');
    const copied = await vectors.count(migration.target);
    expect([writes, checkpoint?.progress]).toMatchObject([2, { done: copied, total: 1_000 }]);
    await migration.finish('copy');
    await expectEqual(migration);
  });

  it.each(['yellow', 'grey'] as const)(
    'is not over before the store has indexed what it holds: %s',
    async (status) => {
      const migration = await migrationAt('rebuilt');
      const { vectors } = migration.services;
      let isIndexed = false;
      const collectionInfo: typeof vectors.collectionInfo = async (name) => {
        const info = await vectors.collectionInfo(name);
        const isUnder = name === migration.target && !isIndexed;
        return info && isUnder ? { ...info, status, indexed_vectors_count: 7 } : info;
      };
      const updates: string[] = [];
      const updateCollection = async (name: string) => void updates.push(name);
      const changes = { vectors: { collectionInfo, updateCollection } };
      await migration.invoke('copy', {}, changes);
      const waiting = await migration.invoke('copy', {}, changes);
      expect(waiting).toMatchObject({
        ...{ done: false, phase: 'rebuilt' },
        waitsFor: `the index of ${migration.target}: 7 vectors of 60 points`,
      });
      expect(updates).toEqual(status === 'grey' ? [migration.target] : []);
      isIndexed = true;
      expect(await migration.invoke('copy', {}, changes)).toMatchObject({ phase: 'copied' });
    },
  );

  it('a source that is in trouble is copied all the same: only what is written to has to be well', async () => {
    const migration = await migrationAt('rebuilt');
    const { vectors } = migration.services;
    const collectionInfo: typeof vectors.collectionInfo = async (name) => {
      const info = await vectors.collectionInfo(name);
      return info && name === SOURCE ? { ...info, status: 'red' } : info;
    };
    await migration.finish('copy', {}, { vectors: { collectionInfo } });
    await expectEqual(migration);
  });
});
