// What the preflight refuses, each by its name, and that it changes nothing.
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import { takePreflight } from '../../../../lib/migration/steps/preflight.ts';
import type { Prerequisite } from '../../../../lib/migration/steps/prerequisites.ts';
import { DEFAULT_VERSION } from '../../../../local/sandbox/qdrant/versions.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { createAlias, point } from '../../../support/vector-stores.ts';

const VECTOR = '[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]';

async function withPayload({ services }: Migration, payload: string): Promise<void> {
  await services.vectors.upsert(SOURCE, [point(1, payload, VECTOR)], 'upsert');
}

interface Obstacle {
  readonly about: string;
  readonly refusal: Parameters<typeof named>[0];
  readonly prerequisite?: string;
  readonly put: (migration: Migration) => Promise<unknown>;
  readonly plan?: Record<string, unknown>;
}

const OBSTACLES: readonly Obstacle[] = [
  {
    about: 'a source that is not there',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    plan: { sourceCollection: 'nothing' },
    put: async () => {},
  },
  {
    about: 'a source that is an alias',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    plan: { sourceCollection: 'other-name' },
    put: ({ qdrant }) => createAlias(qdrant.url, 'other-name', SOURCE),
  },
  {
    about: 'a backend that works on another collection',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    put: ({ services }) => services.setting.change({ from: SOURCE, to: 'another' }),
  },
  {
    about: 'a target that is taken',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    put: ({ services, target }) =>
      services.vectors.createCollection(target, { vectors: { size: 8, distance: 'Cosine' } }),
  },
  {
    about: 'a target that is an alias',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    put: ({ qdrant, target }) => createAlias(qdrant.url, target, SOURCE),
  },
  {
    about: 'a companion that is taken',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    put: ({ services, target }) =>
      services.vectors.createCollection(`${target}_entities`, {
        vectors: { size: 8, distance: 'Cosine' },
      }),
  },
  {
    about: 'what an earlier run left behind',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Collection names',
    put: ({ services }) =>
      services.vectors.createCollection(`${SOURCE}_v3_earlier`, {
        vectors: { size: 8, distance: 'Cosine' },
      }),
  },
  ...(
    [
      ['no user', '{"data":"x"}'],
      ['a user that is a number', '{"user_id":7,"data":"x"}'],
      ['a user with white space', '{"user_id":"ada lovelace","data":"x"}'],
      ['a user with white space at its end', '{"user_id":"ada ","data":"x"}'],
      ['a user under a camel-case key', '{"userId":"ada","data":"x"}'],
      ['no payload at all', 'null'],
    ] as const
  ).map(([about, payload]) => ({
    about: `a memory with ${about}`,
    refusal: 'RefusedPrerequisites' as const,
    prerequisite: 'Memories',
    put: (migration: Migration) => withPayload(migration, payload),
  })),
  {
    about: 'a memory that the new version would hide',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Memories',
    put: (migration) =>
      withPayload(migration, '{"user_id":"ada","data":"x","expiration_date":"2020-01-01"}'),
  },
  {
    about: 'a store whose shards are not ready',
    refusal: 'RefusedPrerequisites',
    prerequisite: 'Vector store',
    put: async ({ qdrant }) =>
      qdrant.fault({ on: /readyz/, does: { kind: 'answer', status: 503, body: 'not ready' } }),
  },
  {
    about: 'an address where no store answers',
    refusal: 'RefusedByStore',
    put: async ({ qdrant }) =>
      qdrant.fault({ on: /^GET \/$/, does: { kind: 'answer', status: 200, body: '<html>' } }),
  },
  {
    about: 'a readiness that the key may not ask for',
    refusal: 'RefusedCredentials',
    put: async ({ qdrant }) =>
      qdrant.fault({ on: /readyz/, does: { kind: 'answer', status: 403, body: 'Forbidden' } }),
  },
  {
    about: 'a backend that is not healthy',
    refusal: 'RetryableUnavailable',
    put: async ({ backend }) => backend.deploy(undefined),
  },
];

describe('the preflight', () => {
  it('of a store without obstacles reports what it saw, users by digest only', async () => {
    const migration = await migrationAt('preflighted');
    const run = await migration.runs.read(RUN);
    expect(run.phase).toBe('checked');
    const reference = run.evidence['preflight-report'];
    if (!reference) throw new Error('No report');
    const report = await readReport(migration.services, reference);
    expect(report).toMatchObject({
      testUser: '__migration_test_run-a',
      store: { version: DEFAULT_VERSION, nodes: 1 },
      source: { points: 60, size: 8, distance: 'Cosine', hasKeywordSlot: false },
      prerequisites: expect.arrayContaining([expect.objectContaining({ name: 'Memories' })]),
    });
    expect(JSON.stringify(report)).not.toMatch(/"user-\d+"/);
  });

  it.each(OBSTACLES)('refuses $about', async ({ refusal, prerequisite, put, plan }) => {
    const migration = await createMigration();
    await put(migration);
    await migration.start(plan);
    const attempt = migration.invoke('preflight');
    await expect(attempt).rejects.toEqual(named(refusal));
    if (prerequisite) await expect(attempt).rejects.toThrow(`${prerequisite}: `);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  it('lists all problems at once, in a dry run too, which creates no run', async () => {
    const migration = await createMigration({ hasGraph: false });
    await withPayload(migration, '{"data":"x"}');
    const payload = { runId: RUN, sourceCollection: SOURCE };
    const take = (more: object) =>
      takePreflight(migration.services, { ...payload, ...more }, { timeLeftMs: () => 600_000 });
    const failedIn = (result: Awaited<ReturnType<typeof take>>) =>
      result.dryRun
        ? (result.forecast.prerequisites as Prerequisite[])
            .filter(({ problems }) => problems.length > 0)
            .map(({ name }) => name)
        : [];
    const all = ['Graph store', 'Memories', 'Disk space'];
    expect(failedIn(await take({}))).toEqual(all);
    expect(await migration.services.lock.activeRun()).toBeUndefined();
    const attempt = take({ execute: true });
    for (const name of all) await expect(attempt).rejects.toThrow(`${name}: `);
    const accepts = ['no-graph', 'unknown-space', 'unreachable-users'];
    expect(failedIn(await take({ accepts }))).toEqual([]);
    expect(await take({ execute: true, accepts })).toMatchObject({ phase: 'checked', done: true });
    await expect(take({ execute: true, windowMinutes: 9 })).rejects.toThrow('windowMinutes');
  });

  it.each([
    [{ max_query_limit: 100 }],
    [{ search_allow_exact: false }],
    [{ upsert_max_batchsize: 10 }],
  ])('refuses a strict mode of %o', async (limits) => {
    const migration = await createMigration({ memories: 0 });
    await migration.services.vectors.deleteCollection(SOURCE);
    await migration.services.vectors.createCollection(SOURCE, {
      vectors: { size: 8, distance: 'Cosine' },
      strict_mode_config: { enabled: true, ...limits },
    });
    await migration.start();
    await expect(migration.invoke('preflight')).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('that finds something takes the place of an earlier one that found nothing', async () => {
    const migration = await migrationAt('preflighted');
    const { evidence } = await migration.runs.read(RUN);
    await withPayload(migration, '{"data":"x"}');
    await expect(migration.invoke('preflight')).rejects.toEqual(named('RefusedPrerequisites'));
    const backup = migration.invoke('backup');
    await expect(backup).rejects.toEqual(named('RefusedNotNow'));
    expect(evidence).toHaveProperty('preflight-report');
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
  });

  it('takes what the operator accepts as it is', async () => {
    const migration = await createMigration();
    await withPayload(migration, '{"userId":"ada","expiration_date":"2020-01-01"}');
    await migration.start({ accepts: ['unreachable-users', 'expired-memories'] });
    await migration.finish('preflight');
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
  });

  it('changes neither collections nor points', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const before = await vectors.scroll(SOURCE, { limit: 100 });
    await migration.start();
    await migration.finish('preflight');
    expect(await vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
  });
});
