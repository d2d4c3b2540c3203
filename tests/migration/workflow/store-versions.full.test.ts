// The same migration on each store version that behaves differently, and on a store that keeps snapshots in object storage.
import { describe, expect, it } from 'vitest';
import { SOURCE, type WorldOptions } from '../../../sandbox/world.ts';
import { computeFingerprint } from '../support/collections.ts';
import { createMigration } from '../support/migration.ts';
import { approveWhenAsked, execute } from '../support/state-machine.ts';
import { VERSIONS } from '../support/vector-stores.ts';

async function migrate(qdrant: WorldOptions['qdrant'] = {}, accepts: string[] = []) {
  const migration = await createMigration({ qdrant, snapshotPartBytes: 1_000 });
  const { vectors } = migration.services;
  const before = await computeFingerprint(vectors, SOURCE);
  await migration.start({ accepts });
  const { failure } = await execute(migration, { onTask: approveWhenAsked(migration) });
  return { migration, vectors, before, failure };
}

describe('a migration on a store with', () => {
  it.each(VERSIONS.filter((version) => !isWithoutKeywords(version)))(
    'version %s can be rolled back',
    async (version) => {
      const { vectors, migration, before, failure } = await migrate({ version });
      expect(failure).toBeUndefined();
      expect(await computeFingerprint(vectors, migration.target)).toEqual(before);
      await migration.finish('rollback');
      expect(await migration.services.setting.read()).toBe(SOURCE);
    },
  );

  it.each(VERSIONS.filter(isWithoutKeywords))(
    'version %s, which makes no keyword vectors, must be accepted explicitly',
    async (version) => {
      await expect(migrate({ version })).rejects.toThrow('--accept empty-keywords');
      const { vectors, migration, before, failure } = await migrate({ version }, [
        'empty-keywords',
      ]);
      expect(failure).toBeUndefined();
      expect(await computeFingerprint(vectors, migration.target)).toEqual(before);
    },
  );

  it('snapshots in object storage can be rolled back to one of them', async () => {
    const { vectors, migration, before, failure } = await migrate({
      keepsSnapshotsInObjectStorage: true,
    });
    expect(failure).toBeUndefined();
    await vectors.deleteCollection(SOURCE);
    await migration.finish('rollback');
    const restored = await migration.services.setting.read();
    expect(await computeFingerprint(vectors, restored)).toEqual(before);
  });
});

function isWithoutKeywords(version: string): boolean {
  return ['1.15.2', '1.11.5'].includes(version);
}
