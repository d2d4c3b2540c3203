// A dry run of the copy: how much there is of each user, in an answer that has room for any number of them.
import { expect, it } from 'vitest';
import { userDigest } from '../../../../lib/migration/points.ts';
import { readUserCounts } from '../../../../lib/migration/user-counts.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

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
