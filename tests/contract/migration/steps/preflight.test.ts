// What the preflight finds in the way, before anything is built: names, layout, memories, disk space, the graph and everything
// that its dump will need, and what can be proved of the memory backend's key by reading alone.

import { describe, expect, it } from 'vitest';
import { openNeo4j } from '../../../../lib/migration/adapters/neo4j.ts';
import type { GraphSource } from '../../../../lib/migration/graph/graph-store.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { takePreflight } from '../../../../lib/migration/steps/preflight.ts';
import type { Prerequisite } from '../../../../lib/migration/steps/prerequisites.ts';
import { freePort } from '../../../../local/free-port.ts';
import { DEFAULT_VERSION } from '../../../../local/sandbox/qdrant/versions.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { evidenceOf } from '../../../support/migration/holdings.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { createAlias, point } from '../../../support/vector-stores.ts';

const TEST_USER = '__migration_test_run-a';
const VECTOR = '[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]';

async function withPayload({ services }: Migration, payload: string): Promise<void> {
  await services.vectors.upsert(SOURCE, [point(1, payload, VECTOR)], 'upsert');
}

/** What the last preflight has found, by the name of the prerequisite. */
async function factsOf(migration: Migration, prerequisite: string) {
  const { report } = await evidenceOf(migration, 'preflight-report');
  const { prerequisites } = report as { prerequisites: readonly Prerequisite[] };
  return prerequisites.find(({ name }) => name === prerequisite)?.facts ?? {};
}

const keyOf = (migration: Migration) => factsOf(migration, 'API key of the test user');

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
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
    const { report } = await evidenceOf(migration, 'preflight-report');
    expect(report).toMatchObject({ testUser: TEST_USER });
    const facts = await Promise.all(
      ['Vector store', 'Vector layout', 'Memories'].map((name) => factsOf(migration, name)),
    );
    expect(facts).toMatchObject([
      { version: DEFAULT_VERSION, nodes: 1 },
      { size: 8, distance: 'Cosine', hasKeywordSlot: false },
      { points: 60, users: 7 },
    ]);
    expect(JSON.stringify(report)).not.toMatch(/"user-\d+"/);
  });

  it.each(OBSTACLES)('refuses $about', async ({ refusal, prerequisite, put, plan }) => {
    const migration = await createMigration();
    await put(migration);
    await migration.start(plan);
    const attempt = migration.invoke('preflight');
    await expect(attempt).rejects.toEqual(named(refusal));
    if (prerequisite) await expect(attempt).rejects.toThrow(`${prerequisite}: `);
    await expect(attempt).rejects.not.toThrow(/ada/);
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

  it.each(['preflighted', 'rebuilt', 'copied'] as const)(
    'of a run that is %s takes what that run has made for its own',
    async (point) => {
      const { services } = await migrationAt(point);
      const payload = { runId: RUN, sourceCollection: SOURCE };
      const result = await takePreflight(services, payload, { timeLeftMs: () => 600_000 });
      const { prerequisites = [] } = result.dryRun ? result.forecast : {};
      const problems = (prerequisites as Prerequisite[]).flatMap(({ problems }) => problems);
      expect([result.dryRun, problems]).toEqual([true, []]);
    },
  );

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
});

const NOT_TOLD = { freeBytes: undefined };

async function spaceOf(migration: Migration) {
  const { neededBytes, freeBytes } = await factsOf(migration, 'Disk space');
  return { neededBytes: Number(neededBytes), freeBytes };
}

describe('free space', () => {
  it('that is unknown is refused, and nothing is changed', async () => {
    const migration = await migrationAt('started', {}, NOT_TOLD);
    const attempt = migration.finish('preflight');
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow(/needs about [\d,.]+ (bytes|GB)/);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  it('below three times the collection and its keywords is refused with both numbers', async () => {
    const { neededBytes } = await spaceOf(await migrationAt('preflighted'));
    const migration = await migrationAt('started', {}, { freeBytes: neededBytes - 1 });
    const attempt = migration.finish('preflight');
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    const shown = (bytes: number) => bytes.toLocaleString('en');
    await expect(attempt).rejects.toThrow(`${shown(neededBytes - 1)} bytes`);
    await expect(attempt).rejects.toThrow(`${shown(neededBytes)} bytes`);
    await migration.finish('preflight', { freeBytes: neededBytes });
    expect(await spaceOf(migration)).toMatchObject({ neededBytes, freeBytes: neededBytes });
  });

  it('that is little is not accepted as unknown', async () => {
    const migration = await migrationAt(
      'started',
      {},
      { freeBytes: 1, accepts: ['unknown-space'] },
    );
    await expect(migration.finish('preflight')).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('is counted with vectors, payloads and keywords, three times over', async () => {
    const migration = await migrationAt('preflighted');
    const { points } = await migration.services.vectors.scroll(SOURCE, { limit: 100 });
    const bytes = points.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    const words = points.reduce(
      (sum, { payload }) =>
        sum + (JSON.parse(payload).data ?? '').split(/[^\p{L}\p{N}]+/u).filter(Boolean).length,
      0,
    );
    const { neededBytes } = await spaceOf(migration);
    expect(neededBytes).toBe(3 * (bytes + points.length * 8 * 4) + words * 8);
  });
});

async function preflightOver(change: (graph: GraphSource) => Partial<GraphSource>) {
  const migration = await migrationAt('started');
  const graph = change(migration.graph);
  return { migration, attempt: migration.finish('preflight', {}, { graph }) };
}

describe('the graph', () => {
  it('is reported by version, edition and size', async () => {
    const migration = await migrationAt('preflighted');
    expect(await factsOf(migration, 'Graph store')).toMatchObject({
      ...{ version: '5.26.0', edition: 'sandbox', nodes: 2, relationships: 1, rules: 1 },
    });
  });

  it('that nobody serves is refused by name and at once', async () => {
    const port = await freePort();
    const url = `bolt://127.0.0.1:${port}`;
    await using graph = openNeo4j({ url, user: 'neo4j', password: '', patienceMs: 0 });
    const { migration, attempt } = await preflightOver(() => graph);
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow(/no-graph/);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  const failing = async (error: Error): Promise<never> => {
    throw error;
  };

  it.each(['server', 'size', 'position', 'schema'] as const)(
    'that does not let its %s be read is refused',
    async (part) => {
      const error = new Refusal('RefusedGraph', 'Neo.ClientError.Procedure.ProcedureNotFound');
      const { attempt } = await preflightOver(() => ({ [part]: () => failing(error) }));
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
      await expect(attempt).rejects.toThrow(/ProcedureNotFound/);
    },
  );

  it.each(['nodes', 'relationships'] as const)(
    'whose %s cannot be read is refused',
    async (part) => {
      const { attempt } = await preflightOver(() => ({
        // biome-ignore lint/correctness/useYield: it fails before its first row
        async *[part]() {
          throw new Refusal('RefusedGraph', 'Neo.ClientError.Statement.SyntaxError');
        },
      }));
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    },
  );

  it('of which one node is enough to know that they can be read', async () => {
    let read = 0;
    const { attempt } = await preflightOver((graph) => ({
      async *nodes() {
        for await (const node of graph.nodes()) {
          read += 1;
          yield node;
        }
      },
    }));
    await attempt;
    expect(read).toBe(1);
  });

  it('that refuses the credentials is reported as such', async () => {
    const error = new Refusal('RefusedCredentials', 'Neo.ClientError.Security.Unauthorized');
    const { attempt } = await preflightOver(() => ({ server: () => failing(error) }));
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('that is gone is reported beside all other obstacles', async () => {
    const migration = await migrationAt('started', {}, { sourceCollection: 'nothing' });
    const server = () =>
      failing(new RetryableFailure('RetryableUnavailable', 'ServiceUnavailable'));
    const attempt = migration.finish('preflight', {}, { graph: { server } });
    await expect(attempt).rejects.toThrow(/Graph store: ServiceUnavailable/);
    await expect(attempt).rejects.toThrow(/Collection names: There is no collection nothing/);
  });
});

function grantTo({ backend, environment }: Migration, userId: string): void {
  backend.grant(String(environment.MEMORY_BACKEND_KEY), userId);
}

describe('the key of the memory backend', () => {
  it('of another user is refused by the preflight, which names the user it has to map to', async () => {
    const migration = await migrationAt('started');
    grantTo(migration, 'user-1');
    const attempt = migration.finish('preflight');
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow(TEST_USER);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  it('is proved without a trace: nothing is written or made', async () => {
    const migration = await migrationAt('started');
    const { vectors } = migration.services;
    const before = await vectors.scroll(SOURCE, { limit: 100 });
    await migration.finish('preflight');
    expect(await keyOf(migration)).toEqual({ keyOfTestUser: 'proved' });
    expect(migration.backend.writes()).toBe(0);
    expect(await vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
  });

  it.each(['search', 'memoryCount'] as const)(
    'is that of another user where %s, asked for the test user, finds memories',
    async (endpoint) => {
      const migration = await migrationAt('started');
      const backend = { [endpoint]: async () => 3 };
      const attempt = migration.finish('preflight', {}, { backend });
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
      await expect(attempt).rejects.toThrow(TEST_USER);
    },
  );

  it('is said not to be proved where the backend answers for everybody', async () => {
    const migration = await migrationAt('started');
    await migration.finish('preflight', {}, { backend: { search: async () => 0 } });
    expect(await keyOf(migration)).toEqual({ keyOfTestUser: 'unverified' });
  });

  it('that nobody knows is refused', async () => {
    const migration = await migrationAt('started');
    const memoryCount = async () => {
      throw new Refusal('RefusedCredentials', 'It answered 401.');
    };
    const attempt = migration.finish('preflight', {}, { backend: { memoryCount } });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow('It answered 401.');
  });

  it('that may count for its own user only makes no second witness, and stops no backup', async () => {
    const migration = await migrationAt('started');
    await migration.finish('preflight');
    let asked = 0;
    const memoryCount = async (userId: string) => {
      if (userId === TEST_USER) return 0;
      asked += 1;
      throw new Refusal('RefusedKeyOfOtherUser', 'It answered 403.');
    };
    await migration.finish('backup', {}, { backend: { memoryCount } });
    const { facts } = await evidenceOf(migration, 'backup-manifest');
    expect(facts).toMatchObject({ witness: 'unavailable', disagreements: 0 });
    expect(asked).toBe(1);
  });
});

describe('the new version, where it can be reached', () => {
  it('is asked for its health', async () => {
    const migration = await migrationAt('started');
    const health = async () => {
      throw new Refusal('RefusedBackendAnswer', 'It answered 404.');
    };
    const attempt = migration.finish('preflight', {}, { preview: { health } });
    await expect(attempt).rejects.toEqual(named('RefusedBackendAnswer'));
  });
});
