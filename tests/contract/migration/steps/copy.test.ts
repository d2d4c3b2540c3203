// The copy: its dry run, and a comparison in the window that fails.
import { describe, expect, it } from 'vitest';
import { userDigest } from '../../../../lib/migration/points.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { readUserCounts } from '../../../../lib/migration/user-counts.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

interface Forecast {
  readonly points: number;
  readonly users: number;
  readonly largest: readonly { readonly user: string; readonly points: number }[];
  readonly allUsers: { readonly artifact: string; readonly digest: string };
}

it('reports users and points, and writes no memory', async () => {
  const migration = await migrationAt('rebuilt', { users: 40 });
  const { vectors, artifacts } = migration.services;
  const result = await migration.invoke('copy', { execute: false });
  if (!result.dryRun) throw new Error('No dry run');
  const { points, users, largest, allUsers } = result.forecast as unknown as Forecast;
  expect([points, largest.length]).toEqual([60, 20]);
  const counts = await readUserCounts(artifacts, allUsers);
  expect(users).toBeGreaterThan(20);
  expect(counts.size()).toBe(users);
  expect(counts.largest(20)).toEqual(largest);
  expect(counts.pointsOf(userDigest('user-1'))).toBeGreaterThan(0);
  const sum = [...counts.entries()].reduce((sum, { points }) => sum + points, 0);
  expect(sum).toBe(60);
  expect(await vectors.count(migration.target)).toBe(0);
  expect((await migration.runs.read(RUN)).phase).toBe('rebuilt');
});

/** The store confirms writes to the new collection that it does not keep. */
async function copyUnkept({ services, target, finish }: Migration) {
  const { points } = await services.vectors.scroll(target, { limit: 1 });
  await services.vectors.deletePoints(target, { ids: points.map(({ id }) => id) });
  const vectors = { ...services.vectors, upsert: async () => undefined };
  return await finish('copy', {}, { ...services, vectors });
}

async function failing(migration: Migration): Promise<Migration> {
  const attempt = copyUnkept(migration);
  await expect(attempt).rejects.toEqual(named('RefusedVerification'));
  await expect(attempt).rejects.toThrow('missing: 1');
  return migration;
}

async function reportOf({ services }: Migration) {
  const { evidence } = await readStatus(services, RUN);
  return evidence.find(({ kind }) => kind === 'verification-report');
}

it('reports as pending what differs before the window, until it is copied again', async () => {
  const migration = await migrationAt('copied');
  await copyUnkept(migration);
  expect((await reportOf(migration))?.facts).toMatchObject({ isPassed: true, pending: 1 });
  await migration.finish('copy');
  const repaired = { isPassed: true, pending: 0, inserted: 1 };
  expect((await reportOf(migration))?.facts).toMatchObject(repaired);
});

describe('a comparison that fails in the window', () => {
  it('is what status shows, and its report is the one that was stored', async () => {
    const migration = await migrationAt('window-verified');
    const before = await reportOf(migration);
    const report = await reportOf(await failing(migration));
    expect([before?.facts.isPassed, report?.facts.isPassed]).toEqual([true, false]);
    expect(await migration.services.artifacts.head(report?.artifact ?? '')).toMatchObject({
      sha256: report?.digest,
    });
  });

  it('stops the cutover by its name, until another one passes', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    const attempt = migration.finish('cutover');
    await expect(attempt).rejects.toEqual(named('RefusedVerification'));
    await expect(attempt).rejects.toThrow(/verification-report-\d+\.json/);
    expect((await migration.runs.read(RUN)).phase).toBe('window-verified');
    await migration.follow('copy', 'cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('can be rolled back', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    await migration.finish('rollback');
    expect((await migration.runs.read(RUN)).phase).toBe('rolled-back');
  });
});
