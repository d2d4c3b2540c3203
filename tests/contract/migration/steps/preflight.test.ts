// What the preflight finds in the way, before anything is built: names, layout, memories, disk space, the graph and everything
// that its dump will need, and what can be proved of the memory backend's key by reading alone.

import { describe, expect, it } from 'vitest';
import { openNeo4j } from '../../../../lib/migration/adapters/neo4j.ts';
import type { GraphSource } from '../../../../lib/migration/graph/graph-store.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import {
  assertMet,
  type PreflightResult,
  takePreflight,
} from '../../../../lib/migration/steps/preflight.ts';
import {
  isMet,
  KEYWORD_PROBE,
  type Prerequisite,
} from '../../../../lib/migration/steps/prerequisites.ts';
import { freePort } from '../../../../local/processes/free-port.ts';
import { DEFAULT_VERSION } from '../../../../sandbox/qdrant/versions.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import {
  changedServices,
  type ServiceChanges,
} from '../../../support/migration/changed-services.ts';
import { evidenceOf, LAYOUT } from '../../../support/migration/holdings.ts';
import {
  createMigration,
  type Migration,
  type MigrationOptions,
  RUN,
} from '../../../support/migration/migration.ts';
import { Killed, mortal } from '../../../support/migration/mortal.ts';
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
  readonly prerequisite: string;
  readonly put: (migration: Migration) => Promise<unknown>;
  readonly plan?: Record<string, unknown>;
}

const OBSTACLES: readonly Obstacle[] = [
  {
    about: 'a source that is not there',
    prerequisite: 'Collection names',
    plan: { sourceCollection: 'nothing' },
    put: async () => {},
  },
  {
    about: 'a source that is an alias',
    prerequisite: 'Collection names',
    plan: { sourceCollection: 'other-name' },
    put: ({ qdrant }) => createAlias(qdrant.url, 'other-name', SOURCE),
  },
  {
    about: 'a backend that works on another collection',
    prerequisite: 'Collection names',
    put: ({ services }) => services.setting.change({ from: SOURCE, to: 'another' }),
  },
  {
    about: 'a target that is taken',
    prerequisite: 'Collection names',
    put: ({ services, target }) => services.vectors.createCollection(target, LAYOUT),
  },
  {
    about: 'a target that is an alias',
    prerequisite: 'Collection names',
    put: ({ qdrant, target }) => createAlias(qdrant.url, target, SOURCE),
  },
  {
    about: 'a companion that is taken',
    prerequisite: 'Collection names',
    put: ({ services, target }) => services.vectors.createCollection(`${target}_entities`, LAYOUT),
  },
  {
    about: 'what an earlier run left behind',
    prerequisite: 'Collection names',
    put: ({ services }) => services.vectors.createCollection(`${SOURCE}_v3_earlier`, LAYOUT),
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
    prerequisite: 'Memories',
    put: (migration: Migration) => withPayload(migration, payload),
  })),
  {
    about: 'a memory that the new version would hide',
    prerequisite: 'Memories',
    put: (migration) =>
      withPayload(migration, '{"user_id":"ada","data":"x","expiration_date":"2020-01-01"}'),
  },
  {
    about: 'a store whose shards are not ready',
    prerequisite: 'Vector store',
    put: async ({ qdrant }) =>
      qdrant.fault({ on: /readyz/, does: { kind: 'answer', status: 503, body: 'not ready' } }),
  },
  {
    about: 'an address where no store answers',
    prerequisite: 'Vector store',
    put: async ({ qdrant }) =>
      qdrant.fault({ on: /^GET \/$/, does: { kind: 'answer', status: 200, body: '<html>' } }),
  },
  {
    about: 'a readiness that the key may not ask for',
    prerequisite: 'Vector store',
    put: async ({ qdrant }) =>
      qdrant.fault({ on: /readyz/, does: { kind: 'answer', status: 403, body: 'Forbidden' } }),
  },
  {
    about: 'a backend that is not healthy',
    prerequisite: 'Memory backend',
    put: async ({ backend }) => backend.deploy(undefined),
  },
];

describe('the preflight', () => {
  it('of a store without obstacles reports what it saw, users by digest only', async () => {
    const migration = await migrationAt('checked');
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

  it.each([
    [{ shard_number: 3 }, '3 shards and float32'],
    [{ vectors: { ...LAYOUT.vectors, datatype: 'float16' } }, '1 shards and float16'],
  ])('finds what the new version would make otherwise: %o', async (settings, what) => {
    const finding = async (options: MigrationOptions, plan: Record<string, unknown>) => {
      const migration = await createMigration(options);
      const { vectors } = migration.services;
      await vectors.deleteCollection(SOURCE);
      await vectors.createCollection(SOURCE, { ...LAYOUT, ...settings } as typeof LAYOUT);
      return await migration.start(plan).then(
        () => 'met',
        ({ message }: Error) => message,
      );
    };
    expect(await finding({}, {})).toContain(what);
    expect(await finding({}, { accepts: ['other-storage'] })).toBe('met');
    expect(await finding({ hasPreview: false }, {})).toBe('met');
  });

  it.each(OBSTACLES)('refuses $about, and begins no run', async ({ prerequisite, put, plan }) => {
    const migration = await createMigration();
    await put(migration);
    const attempt = migration.start(plan);
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites', `${prerequisite}: `));
    await expect(attempt).rejects.not.toThrow(/ada/);
    await expect(migration.runs.read(RUN)).rejects.toEqual(named('RefusedUnknownRun'));
    expect(await migration.lock.activeRun()).toBeUndefined();
    expect(await Array.fromAsync(migration.services.artifacts.list(''))).toEqual([]);
  });

  it('lists all problems at once, in a dry run too, which creates no run', async () => {
    const migration = await createMigration({ hasGraph: false });
    await withPayload(migration, '{"data":"x"}');
    const payload = { runId: RUN, sourceCollection: SOURCE };
    const take = (more: object) => takePreflight(migration.services, { ...payload, ...more });
    const failedIn = ({ prerequisites }: Pick<PreflightResult, 'prerequisites'>) =>
      prerequisites.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
    const all = ['Memories', 'Disk space', 'Graph store'];
    for (const execute of [false, true]) {
      const { prerequisites } = await take({ execute });
      expect(failedIn({ prerequisites })).toEqual(all);
      expect(() => assertMet(prerequisites)).toThrow(`Not met: ${all.join(', ')}.`);
      expect(await migration.services.lock.activeRun()).toBeUndefined();
    }
    const accepts = ['no-graph', 'unknown-space', 'unreachable-users'];
    expect(failedIn(await take({ accepts }))).toEqual([]);
    expect(await take({ execute: true, accepts })).toMatchObject({ dryRun: false });
    expect(await migration.runs.read(RUN)).toMatchObject({ phase: 'checked', plan: { accepts } });
    await expect(take({ execute: true, windowMinutes: 9 })).rejects.toThrow('window minutes 30');
  });

  it('says what it could not check, and goes on with the rest', async () => {
    const away = async () => {
      throw new RetryableFailure('RetryableUnavailable', 'ECONNREFUSED');
    };
    const missing = { runId: RUN, sourceCollection: 'nothing' };
    const checked = async (changes: ServiceChanges) => {
      const { services } = await createMigration();
      const { prerequisites } = await takePreflight(changedServices(services, changes), missing);
      const standing = prerequisites.map((one) =>
        one.isUnchecked ? '?' : isMet(one) ? 'met' : 'failed',
      );
      return Object.fromEntries(prerequisites.map(({ name }, n) => [name, standing[n]]));
    };
    const unread = {
      ...{ 'Vector layout': '?', 'API key of the test user': '?', Memories: '?' },
      'Disk space': '?',
    };
    expect(await checked({})).toMatchObject({
      ...{ 'Vector store': 'met', 'Collection names': 'failed', ...unread },
      ...{ 'Memory backend': 'met', 'New version': 'met', 'Graph store': 'met', Artifacts: 'met' },
    });
    const all = {
      ...{ vectors: { version: away }, backend: { health: away }, preview: { health: away } },
      ...{ graph: { server: away }, artifacts: { head: away } },
    };
    expect(await checked(all)).toMatchObject({
      ...{ 'Vector store': 'failed', 'Collection names': '?', ...unread },
      ...{ 'Memory backend': 'failed', 'New version': 'failed' },
      ...{ 'Graph store': 'failed', Artifacts: 'failed' },
    });
  });

  it('never calls the collection in use a leftover, where the source is an earlier one', async () => {
    const { services } = await createMigration();
    const inUse = `${SOURCE}_v3_earlier`;
    const vectors = { size: 8, distance: 'Cosine' } as const;
    await services.vectors.createCollection(inUse, { vectors });
    await services.setting.change({ from: SOURCE, to: inUse });
    const payload = { runId: RUN, sourceCollection: SOURCE };
    const { prerequisites } = await takePreflight(services, payload);
    const names = prerequisites.find(({ name }) => name === 'Collection names');
    expect(names?.detail).toContain(`${inUse} is in use`);
    expect(names?.problems.map(({ why }) => why)).toEqual([
      `The memory backend works on ${inUse}.`,
    ]);
  });

  it('says how to go without a graph that does not answer', async () => {
    const { services } = await createMigration();
    const server = async () => {
      throw new RetryableFailure('RetryableUnavailable', 'ServiceUnavailable');
    };
    const payload = { runId: RUN, sourceCollection: SOURCE, accepts: ['no-graph'] };
    const changed = changedServices(services, { graph: { server } });
    const { prerequisites } = await takePreflight(changed, payload);
    const graph = prerequisites.find(({ name }) => name === 'Graph store');
    expect(graph?.problems[0]?.remedy).toContain('unset NEO4J_URL');
  });

  it('looks for no obstacle while another run is under way', async () => {
    const { services, runs } = await migrationAt('checked');
    const payload = { runId: 'run-b', sourceCollection: SOURCE };
    for (const execute of [false, true]) {
      const attempt = takePreflight(services, { ...payload, execute });
      await expect(attempt).rejects.toEqual(named('RefusedOtherRun'));
    }
    await expect(runs.read('run-b')).rejects.toEqual(named('RefusedUnknownRun'));
  });

  it('killed at any call, begins the run when it is given again', async () => {
    const whole = await createMigration();
    const { services, deaths } = mortal(whole.services);
    await whole.start({}, services);
    expect(deaths().length).toBeGreaterThan(2);
    for (const death of deaths()) {
      const migration = await createMigration();
      const attempt = migration.start({}, mortal(migration.services, death).services);
      await expect(attempt).rejects.toThrow(Killed);
      await migration.start();
      expect((await migration.runs.read(RUN)).phase).toBe('checked');
      expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
    }
  });

  it.each(['checked', 'rebuilt', 'copied'] as const)(
    'of a run that is %s takes what that run has made for its own',
    async (point) => {
      const { services } = await migrationAt(point);
      const payload = { runId: RUN, sourceCollection: SOURCE };
      const { prerequisites } = await takePreflight(services, payload);
      expect(prerequisites.flatMap(({ problems }) => problems)).toEqual([]);
      expect(prerequisites.every(isMet)).toBe(true);
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
      ...LAYOUT,
      strict_mode_config: { enabled: true, ...limits },
    });
    await expect(migration.start()).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('of a run that has opened its window is refused', async () => {
    for (const [point, name] of [
      ['frozen', 'RefusedNotNow'],
      ['live', 'RefusedNotNow'],
    ] as const) {
      const { services } = await migrationAt(point);
      await expect(takePreflight(services, { runId: RUN })).rejects.toEqual(named(name));
    }
    const migration = await migrationAt('checked');
    await migration.finish('abort');
    await expect(migration.start()).rejects.toEqual(named('RefusedNotNow', 'aborted'));
  });

  it('takes what the operator accepts as it is', async () => {
    const migration = await createMigration();
    await withPayload(migration, '{"userId":"ada","expiration_date":"2020-01-01"}');
    await migration.start({ accepts: ['unreachable-users', 'expired-memories'] });
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
  });
});

async function spaceOf(migration: Migration) {
  const { neededBytes, freeBytes } = await factsOf(migration, 'Disk space');
  return { neededBytes: Number(neededBytes), freeBytes };
}

describe('free space', () => {
  it('that is unknown is refused, and nothing is changed', async () => {
    const attempt = (await createMigration()).start({ freeBytes: undefined });
    await expect(attempt).rejects.toEqual(
      named('RefusedPrerequisites', /needs about [\d,.]+ (bytes|GB)/),
    );
  });

  it('below three times the collection and its keywords is refused with both numbers', async () => {
    const { neededBytes } = await spaceOf(await migrationAt('checked'));
    const migration = await createMigration();
    const attempt = migration.start({ freeBytes: neededBytes - 1 });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    const shown = (bytes: number) => bytes.toLocaleString('en');
    await expect(attempt).rejects.toThrow(`${shown(neededBytes - 1)} bytes`);
    await expect(attempt).rejects.toThrow(`${shown(neededBytes)} bytes`);
    await migration.start({ freeBytes: neededBytes });
    expect(await spaceOf(migration)).toMatchObject({ neededBytes, freeBytes: neededBytes });
  });

  it('that is little is not accepted as unknown', async () => {
    const attempt = (await createMigration()).start({ freeBytes: 1, accepts: ['unknown-space'] });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('is counted with vectors, payloads and keywords, three times over', async () => {
    const migration = await migrationAt('checked');
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
  const migration = await createMigration();
  return { attempt: migration.start({}, { graph: change(migration.graph) }) };
}

describe('the graph', () => {
  it('is reported by version, edition and size', async () => {
    const migration = await migrationAt('checked');
    expect(await factsOf(migration, 'Graph store')).toMatchObject({
      ...{ version: '5.26.0', edition: 'sandbox', nodes: 2, relationships: 1, rules: 1 },
    });
  });

  it('that nobody serves is refused by name and at once', async () => {
    const port = await freePort();
    const url = `bolt://127.0.0.1:${port}`;
    await using graph = openNeo4j({ url, user: 'neo4j', password: '', patienceMs: 0 });
    const { attempt } = await preflightOver(() => graph);
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites', /no-graph/));
  });

  const failing = async (error: Error): Promise<never> => {
    throw error;
  };

  it.each(['server', 'size', 'position', 'schema'] as const)(
    'that does not let its %s be read is refused',
    async (part) => {
      const error = new Refusal('RefusedByService', 'Neo.ClientError.Procedure.ProcedureNotFound');
      const { attempt } = await preflightOver(() => ({ [part]: () => failing(error) }));
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites', /ProcedureNotFound/));
    },
  );

  it.each(['nodes', 'relationships'] as const)(
    'whose %s cannot be read is refused',
    async (part) => {
      const { attempt } = await preflightOver(() => ({
        // biome-ignore lint/correctness/useYield: it fails before its first row
        async *[part]() {
          throw new Refusal('RefusedByService', 'Neo.ClientError.Statement.SyntaxError');
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
    const migration = await createMigration();
    const server = () =>
      failing(new RetryableFailure('RetryableUnavailable', 'ServiceUnavailable'));
    const attempt = migration.start({ sourceCollection: 'nothing' }, { graph: { server } });
    await expect(attempt).rejects.toThrow(/Graph store: ServiceUnavailable/);
    await expect(attempt).rejects.toThrow(/Collection names: There is no collection nothing/);
  });
});

function grantTo({ backend, environment }: Migration, userId: string): void {
  backend.grant(String(environment.MEMORY_BACKEND_KEY), userId);
}

describe('the key of the memory backend', () => {
  it('of another user is refused by the preflight, which names the user it has to map to', async () => {
    const migration = await createMigration();
    grantTo(migration, 'user-1');
    await expect(migration.start()).rejects.toEqual(named('RefusedPrerequisites', TEST_USER));
  });

  it('is proved without a trace: nothing is written or made', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const before = await vectors.scroll(SOURCE, { limit: 100 });
    await migration.start();
    expect(await keyOf(migration)).toEqual({ keyOfTestUser: 'proved' });
    expect(migration.backend.writes()).toBe(0);
    expect(await vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
  });

  it.each(['search', 'memoryCount'] as const)(
    'is that of another user where %s, asked for the test user, finds memories',
    async (endpoint) => {
      const migration = await createMigration();
      const backend = { [endpoint]: async () => 3 };
      const attempt = migration.start({}, { backend });
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites', TEST_USER));
    },
  );

  it('is said not to be proved where the backend answers for everybody', async () => {
    const migration = await createMigration();
    await migration.start({}, { backend: { search: async () => 0 } });
    expect(await keyOf(migration)).toEqual({ keyOfTestUser: 'unverified' });
  });

  it('that nobody knows is refused', async () => {
    const migration = await createMigration();
    const memoryCount = async () => {
      throw new Refusal('RefusedCredentials', 'It answered 401.');
    };
    const attempt = migration.start({}, { backend: { memoryCount } });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites', 'It answered 401.'));
  });

  it('that may count for its own user only makes no second witness, and stops no backup', async () => {
    const migration = await createMigration();
    await migration.start();
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

describe('what the window uses', () => {
  const refused = () => Promise.reject(new Refusal('RefusedCredentials', 'It is not allowed.'));

  it.each<[string, ServiceChanges, string]>([
    ['a webhook that takes no token', { hooks: { ask: refused } }, 'Webhook: It is not allowed.'],
    [
      'a webhook that does not answer "check" at once',
      { hooks: { ask: async () => 'under-way' } },
      'Webhook: It answered 202',
    ],
    [
      'a setting that must not be written',
      { setting: { tryWrite: refused } },
      'Collection setting: It is not allowed.',
    ],
    [
      'a store that makes no keyword vectors',
      { vectors: { encodesKeywords: async () => false } },
      'Keyword vectors: The store makes none',
    ],
  ])('is tried: %s', async (_, changes, why) => {
    const migration = await createMigration();
    await expect(migration.start({}, changes)).rejects.toThrow(why);
    expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
    expect(migration.operator.heard).toEqual([]);
  });

  it('may be a store without keyword vectors, where they are left out', async () => {
    const migration = await createMigration();
    const vectors = { encodesKeywords: async () => false };
    await migration.start({ accepts: ['empty-keywords'] }, { vectors });
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
  });

  it('is not written in a dry run', async () => {
    const migration = await createMigration();
    const services = changedServices(migration.services, {
      setting: { tryWrite: refused },
      vectors: { createCollection: refused },
    });
    const { prerequisites } = await takePreflight(services, {
      runId: RUN,
      sourceCollection: SOURCE,
    });
    const written = ['Collection setting', 'Keyword vectors'];
    expect(prerequisites.filter(({ name }) => written.includes(name))).toMatchObject([
      { detail: 'can be read', problems: [] },
      { detail: 'tried with --execute', problems: [] },
    ]);
  });

  it('is no collection of somebody else, whatever its name', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await vectors.createCollection(KEYWORD_PROBE, LAYOUT);
    await vectors.upsert(KEYWORD_PROBE, [point(1, '{}', VECTOR)], 'upsert');
    await expect(migration.start()).rejects.toThrow(`${KEYWORD_PROBE} has 1 points.`);
    expect(await vectors.count(KEYWORD_PROBE)).toBe(1);
  });
});

describe('the new version, where it can be reached', () => {
  it('is asked for its health', async () => {
    const migration = await createMigration();
    const health = async () => {
      throw new Refusal('RefusedByService', 'It answered 404.');
    };
    const attempt = migration.start({}, { preview: { health } });
    await expect(attempt).rejects.toThrow('New version: It answered 404.');
  });
});
