// A run removes only its own collections.
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { removeCollections } from '../../../../lib/migration/steps/clean-up.ts';
import { filterByUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { writeToNew } from '../../support/holdings.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';

describe('the collection that the setting names', () => {
  it.each(['abort', 'rebuild'] as const)('is not removed by %s', async (step) => {
    const migration = await createMigrationAt('rebuilt');
    const { services, target } = migration;
    await services.setting.change({ from: SOURCE, to: target });
    await writeToNew(migration, 'Written by a user admitted by hand');
    await migration.finish(step);
    expect(await services.vectors.count(target, filterByUser('user-1'))).toBe(1);
  });

  it('is never removed; nor is the old collection while a rollback is possible', async () => {
    const { services, target, runs } = await createMigrationAt('rebuilt');
    const { setting, vectors } = services;
    await setting.change({ from: SOURCE, to: target });
    const context = { services, run: await runs.read(RUN), renew: async () => {} };
    const inUse = [target, `${target}_entities`];
    await removeCollections(context, [SOURCE, ...inUse]);
    expect(await vectors.listCollections()).toEqual([SOURCE, ...inUse]);
    await removeCollections(context, [SOURCE, ...inUse], { keepsOld: false });
    expect(await vectors.listCollections()).toEqual(inUse);
  });
});

describe('a backup that is given up half-way', () => {
  /** Breaks off a backup after it has made its snapshot and recorded it. */
  async function failHalfWay(
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
    const migration = await createMigrationAt(point);
    await failHalfWay(migration, step);
    await migration.finish(end);
    expect(await migration.services.vectors.listSnapshots(SOURCE)).toEqual([]);
  });

  it('does not keep a rollback from ending if the store does not delete the snapshot', async () => {
    const migration = await createMigrationAt('frozen');
    await failHalfWay(migration, 'cutover');
    const deleteSnapshot = () => Promise.reject(new Error('Not now'));
    await migration.finish('rollback', {}, { vectors: { deleteSnapshot } });
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN, why: 'Error: Not now' }]);
  });
});
