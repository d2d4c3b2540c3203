// A run removes only its own collections.
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { removeCollections } from '../../../../lib/migration/steps/clean-up.ts';
import { filterByUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { emptyCollection, writeToNew } from '../../support/collections.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

describe('the collection that the setting names', () => {
  it.each(['abort', 'rebuild'] as const)('is not removed by %s', async (step) => {
    const migration = await createMigrationAt('rebuilt');
    const { services, target } = migration;
    await services.setting.change({ from: SOURCE, to: target });
    await writeToNew(migration, 'Written after an operator changed the setting by hand');
    await migration.finish(step);
    expect(await services.vectors.count(target, filterByUser('user-1'))).toBe(1);
  });

  it('is never removed; nor is the old collection while a rollback is possible', async () => {
    const { services, target, runs } = await createMigrationAt('rebuilt');
    const { setting, vectors } = services;
    await setting.change({ from: SOURCE, to: target });
    const context = { services, run: await runs.read(RUN), renewLease: async () => {} };
    const activeCollections = [target, `${target}_entities`];
    await removeCollections(context, [SOURCE, ...activeCollections]);
    expect(await vectors.listCollections()).toEqual([SOURCE, ...activeCollections]);
    await removeCollections(context, [SOURCE, ...activeCollections], { keepsOld: false });
    expect(await vectors.listCollections()).toEqual(activeCollections);
  });
});

describe('a new collection, if the old one', () => {
  /** Fills the new collection, and fails before the copy is recorded. */
  async function fillNew(): Promise<Migration> {
    const migration = await createMigrationAt('rebuilt');
    const search = () => Promise.reject(new RetryableFailure('RetryableUnavailable', 'No.'));
    await expect(migration.finish('copy', {}, { vectors: { search } })).rejects.toThrow('No.');
    return migration;
  }

  it.each([
    ['was emptied, is not changed by a rebuild', 'emptied', 'rebuild'],
    ['was emptied, is not changed by a copy', 'emptied', 'copy'],
    ['was deleted, is not changed by a copy', 'deleted', 'copy'],
    ['was deleted, is not changed by a rebuild', 'deleted', 'rebuild'],
  ] as const)('%s', async (_, damage, step) => {
    const migration = step === 'copy' ? await createMigrationAt('copied') : await fillNew();
    const { services, target } = migration;
    if (damage === 'emptied') await emptyCollection(migration, SOURCE, 31);
    else await services.vectors.deleteCollection(SOURCE);
    const missing = damage === 'emptied' ? 31 : 60;
    const refused = failureNamed(
      'RefusedMassChange',
      new RegExp(`lacks ${missing} of the 60 memories .*"deletes":${missing}`),
    );
    await expect(migration.finish(step)).rejects.toEqual(refused);
    const fewer = { deletes: missing - 1 };
    await expect(migration.finish(step, fewer)).rejects.toEqual(refused);
    expect(await services.vectors.count(target)).toBe(60);
    if (damage === 'deleted') return;
    await migration.finish(step, { deletes: missing });
    expect(await services.vectors.count(target)).toBe(step === 'copy' ? 29 : 0);
  });

  it('was emptied before its window, is not changed inside the window', async () => {
    const migration = await createMigrationAt('copied');
    await emptyCollection(migration, SOURCE);
    await expect(migration.finish('cutover')).rejects.toEqual(failureNamed('RefusedMassChange'));
    expect(await migration.services.vectors.count(migration.target)).toBe(60);
  });
});

describe('a backup that fails after its snapshot was created', () => {
  /** Makes a backup fail after it has created and recorded its snapshot. */
  async function failHalfWay(
    { services, finish }: Migration,
    step: 'backup' | 'cutover',
  ): Promise<void> {
    const failure = new RetryableFailure('RetryableUnavailable', 'Connection lost');
    const downloadSnapshot = () => Promise.reject(failure);
    const attempt = finish(step, {}, { vectors: { downloadSnapshot } });
    await expect(attempt).rejects.toThrow('Connection lost');
    expect(await services.vectors.listSnapshots(SOURCE)).toHaveLength(1);
  }

  it.each([
    ['before the window', 'checked', 'backup', 'abort'],
    ['inside the window', 'frozen', 'cutover', 'rollback'],
  ] as const)('leaves no snapshot on the store: %s', async (_, milestone, step, lastStep) => {
    const migration = await createMigrationAt(milestone);
    await failHalfWay(migration, step);
    await migration.finish(lastStep);
    expect(await migration.services.vectors.listSnapshots(SOURCE)).toEqual([]);
  });

  it('does not block a rollback if the store does not delete the snapshot', async () => {
    const migration = await createMigrationAt('frozen');
    await failHalfWay(migration, 'cutover');
    const deleteSnapshot = () => Promise.reject(new Error('Not now'));
    await migration.finish('rollback', {}, { vectors: { deleteSnapshot } });
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN, why: 'Error: Not now' }]);
  });
});
