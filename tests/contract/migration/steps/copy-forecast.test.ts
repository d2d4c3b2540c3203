// A dry run of the copy: how much there is of each user, in an answer that has room for any number of them.
import { expect, it } from 'vitest';
import { readJson } from '../../../../lib/migration/ports/json-artifact.ts';
import { userDigest } from '../../../../lib/migration/proof/user-digest.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

interface Forecast {
  readonly total: number;
  readonly users: number;
  readonly largest: readonly { readonly user: string; readonly points: number }[];
  readonly allUsers: { readonly artifact: string; readonly digest: string };
}

async function forecastOver(change: (vectors: Services['vectors']) => Services['vectors']) {
  const migration = await migrationAt('rebuilt');
  const { vectors, artifacts } = migration.services;
  const spoken = { ...migration.services, vectors: change(vectors) };
  const result = await migration.invoke('copy', { execute: false }, spoken);
  if (!result.dryRun) throw new Error('No dry run');
  const forecast = result.forecast as unknown as Forecast;
  const list = (await readJson(artifacts, forecast.allUsers.artifact)) as { counts: unknown[] };
  return { migration, result, forecast, list };
}

it('tells users and points, and writes no memory', async () => {
  const { migration, forecast, list } = await forecastOver((vectors) => vectors);
  expect(forecast).toMatchObject({ total: 60, users: 7, withoutUser: 0, countedBy: 'facet' });
  expect(forecast.largest).toHaveLength(7);
  expect(list.counts).toEqual(forecast.largest);
  expect(forecast.largest).toContainEqual({
    user: userDigest('user-1'),
    points: expect.any(Number),
  });
  expect(forecast.largest.reduce((sum, { points }) => sum + points, 0)).toBe(60);
  expect(await migration.services.vectors.count(migration.target)).toBe(0);
  expect(await migration.services.artifacts.head(forecast.allUsers.artifact)).toMatchObject({
    sha256: forecast.allUsers.digest,
  });
  expect((await migration.runs.read(RUN)).phase).toBe('rebuilt');
});

it('counts users for itself alone: the copy asks for no more than the total', async () => {
  const migration = await migrationAt('rebuilt');
  const facet = async () => {
    throw new Error('Users were counted');
  };
  const vectors = { ...migration.services.vectors, facet };
  await migration.finish('copy', {}, { ...migration.services, vectors });
  const { evidence } = await migration.runs.read(RUN);
  expect(evidence['copy-report']?.facts.copied).toBe(60);
});

it('of a hundred thousand users fits into an answer, the largest first', async () => {
  const USERS = 100_000;
  const hits = Array.from({ length: USERS }, (_, n) => ({ value: `user-${n}`, count: n + 1 }));
  const total = (USERS * (USERS + 1)) / 2;
  const { result, forecast, list } = await forecastOver((vectors) => ({
    ...vectors,
    facet: async () => hits,
    count: async (_, filter) => (filter ? 0 : total),
  }));
  expect(JSON.stringify(result).length).toBeLessThan(10_000);
  expect(forecast).toMatchObject({ total, users: USERS });
  expect(forecast.largest[0]).toEqual({ user: userDigest(`user-${USERS - 1}`), points: USERS });
  expect(list.counts).toHaveLength(USERS);
});
