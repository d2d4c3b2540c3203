// What a run removes or writes to is its own, and it does so only while it has its turn.
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { removeCollections } from '../../../../lib/migration/steps/clean-up.ts';
import { ofUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import type { ServiceChanges } from '../../../support/migration/changed-services.ts';
import { LAYOUT, writeToNew } from '../../../support/migration/holdings.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { LEASE_MS } from '../../../support/migration/run-table.ts';

const RESTORED = `${SOURCE}_restored_${RUN}`;

/** Another invocation takes the run over. */
async function overtake({ pass, lock }: Migration): Promise<void> {
  pass(LEASE_MS);
  await lock.take(RUN);
}

describe('a collection of somebody else', () => {
  it.each([
    ['target', `${SOURCE}_v3_${RUN}`],
    ['companion', `${SOURCE}_v3_${RUN}_entities`],
    ['scratch collection of the drill', `restore_drill_${RUN}`],
    ['restored collection', RESTORED],
  ])('by the name of the %s is refused', async (_, name) => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await vectors.createCollection(name, LAYOUT);
    await expect(migration.start()).rejects.toEqual(named('RefusedPrerequisites'));
    expect(await vectors.listCollections()).toContain(name);
  });
});

describe('what the setting names', () => {
  it.each(['abort', 'rebuild'] as const)('is removed by no %s', async (step) => {
    const migration = await migrationAt('rebuilt');
    const { services, target } = migration;
    await services.setting.change({ from: SOURCE, to: target });
    await writeToNew(migration, 'Written by somebody let in by hand');
    await migration.finish(step);
    expect(await services.vectors.count(target, ofUser('user-1'))).toBe(1);
  });

  it('is removed by nothing; nor is the old collection, as long as a rollback is possible', async () => {
    const { services, target, runs } = await migrationAt('rebuilt');
    const { setting, vectors } = services;
    await setting.change({ from: SOURCE, to: target });
    const context = { services, run: await runs.read(RUN), renew: async () => {} };
    await removeCollections(context, [SOURCE, target, `${target}_entities`]);
    expect(await vectors.listCollections()).toEqual([SOURCE, target]);
    await removeCollections(context, [SOURCE, target], { keepsOld: false });
    expect(await vectors.listCollections()).toEqual([target]);
  });
});

describe('a backup that is given up half-way', () => {
  /** Its snapshot is there, and known. */
  async function breakOff(
    { services, finish }: Migration,
    step: 'backup' | 'cutover',
  ): Promise<void> {
    const brokenOff = new RetryableFailure('RetryableUnavailable', 'Broken off');
    const downloadSnapshot = () => Promise.reject(brokenOff);
    const attempt = finish(step, {}, { vectors: { downloadSnapshot } });
    await expect(attempt).rejects.toThrow('Broken off');
    expect(await services.vectors.listSnapshots(SOURCE)).toHaveLength(1);
  }

  it.each([
    ['before the window', 'checked', 'backup', 'abort'],
    ['inside the window', 'frozen', 'cutover', 'rollback'],
  ] as const)('leaves no snapshot on the store: %s', async (_, point, step, end) => {
    const migration = await migrationAt(point);
    await breakOff(migration, step);
    await migration.finish(end);
    expect(await migration.services.vectors.listSnapshots(SOURCE)).toEqual([]);
  });

  it('keeps no return from its end, though the store keeps the snapshot', async () => {
    const migration = await migrationAt('frozen');
    await breakOff(migration, 'cutover');
    const deleteSnapshot = () => Promise.reject(new Error('Not now'));
    await migration.finish('rollback', {}, { vectors: { deleteSnapshot } });
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN, why: 'Error: Not now' }]);
  });
});

describe('a context that is over', () => {
  it('does not remove what a later one has restored and users work on', async () => {
    const migration = await migrationAt('live');
    const { vectors, setting } = migration.services;
    await vectors.deleteCollection(SOURCE);
    let looks = 0;
    const listAliases = async () => {
      const found = await vectors.listAliases();
      looks += 1;
      // The second look is right before the restore: there the invocation hangs.
      if (looks === 2) {
        migration.pass(LEASE_MS);
        await migration.finish('rollback');
      }
      return found;
    };
    const deleted: string[] = [];
    const deleteCollection = async (name: string) => {
      deleted.push(name);
      return await vectors.deleteCollection(name);
    };
    const slow = { vectors: { listAliases, deleteCollection } };
    const attempt = migration.invoke('rollback', {}, slow);
    await expect(attempt).rejects.toEqual(named('RefusedLockLost'));
    expect(await setting.read()).toBe(RESTORED);
    expect(deleted).toEqual([]);
  });

  it('writes no further memory of the smoke test', async () => {
    const migration = await migrationAt('equal');
    const written: string[] = [];
    const slow: ServiceChanges = {
      backend: {
        chat: () => overtake(migration),
        addMemory: async (_, text) => void written.push(text),
      },
    };
    const attempt = migration.finish('cutover', {}, slow);
    await expect(attempt).rejects.toEqual(named('RefusedLockLost'));
    expect(written).toEqual([]);
  });

  it('writes nothing to the new version to warm it up', async () => {
    const migration = await migrationAt('backed-up');
    const written: string[] = [];
    const slow: ServiceChanges = {
      preview: {
        health: () => overtake(migration),
        addMemory: async (_, text) => void written.push(text),
      },
    };
    const attempt = migration.finish('rebuild', {}, slow);
    await expect(attempt).rejects.toEqual(named('RefusedLockLost'));
    expect(written).toEqual([]);
  });
});
