// The preflight finds obstacles before anything is created: in names, layout, memories, disk space, the graph and its dump, and
// the backend's key, as far as that can be checked without a write.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { GraphSource } from '../../../../lib/migration/graph/graph-store.ts';
import { toJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { CollectionSettings } from '../../../../lib/migration/ports/vector-store.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { type PreflightResult, runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import {
  assertMet,
  isMet,
  type Prerequisite,
} from '../../../../lib/migration/steps/prerequisites.ts';
import { nameKeywordProbe } from '../../../../lib/migration/steps/store-probes.ts';
import { DEFAULT_VERSION } from '../../../../sandbox/qdrant/versions.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import { changeServices, type ServiceChanges } from '../../support/changed-services.ts';
import { LAYOUT, readEvidence } from '../../support/collections.ts';
import { createKillableServices, Killed } from '../../support/killable-services.ts';
import {
  createMigration,
  type Migration,
  type MigrationOptions,
  RUN,
} from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { createAlias, createPoint } from '../../support/vector-stores.ts';

const TEST_USER = '__migration_test_run-a';
const VECTOR = '[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]';

async function addMemory({ services }: Migration, payload: string): Promise<void> {
  await services.vectors.upsert(SOURCE, [createPoint(1, payload, VECTOR)], 'upsert');
}

/** Reads the facts of the last preflight about one prerequisite. */
async function readFacts(migration: Migration, prerequisite: string) {
  const { report } = await readEvidence(migration, 'preflight-report');
  const { prerequisites } = report as { prerequisites: readonly Prerequisite[] };
  return prerequisites.find(({ name }) => name === prerequisite)?.facts ?? {};
}

const readKeyFacts = (migration: Migration) => readFacts(migration, 'API key of the test user');

interface Obstacle {
  readonly prepare?: (migration: Migration) => Promise<unknown>;
  readonly plan?: Record<string, unknown>;
  readonly changes?: (migration: Migration) => ServiceChanges;
  /** Reason in the message */
  readonly why?: string;
}

const [STORE, NAMES, VECTOR_LAYOUT, MEMORIES] = [
  ...(['Vector store', 'Collection names', 'Vector layout', 'Memories'] as const),
];
const [SPACE, GRAPH, KEY] = ['Disk space', 'Graph store', 'API key of the test user'];

const refuseWith = (why: string) => () => Promise.reject(new Refusal('RefusedByService', why));
const failUnavailable = () =>
  Promise.reject(new RetryableFailure('RetryableUnavailable', 'ServiceUnavailable'));
const recreateSource = (settings: Partial<CollectionSettings>) => ({
  prepare: async ({ services: { vectors } }: Migration) => {
    await vectors.deleteCollection(SOURCE);
    await vectors.createCollection(SOURCE, { ...LAYOUT, ...settings });
  },
});
const withStrictMode = (limits: object) =>
  recreateSource({ strict_mode_config: { enabled: true, ...limits } });
const withCollection = (name: string) => ({
  prepare: ({ services }: Migration) => services.vectors.createCollection(name, LAYOUT),
});
const withResponse = (on: RegExp, status: number, body: string) => ({
  prepare: async ({ qdrant }: Migration) =>
    qdrant.fault({ on, effect: { kind: 'response', status, body } }),
});
/** Makes a stream of rows fail before its first row. */
const withUnreadableRows = (stream: 'streamNodes' | 'streamRelationships') => ({
  changes: () => ({
    graph: {
      // biome-ignore lint/correctness/useYield: it fails before its first row
      async *[stream]() {
        throw new Refusal('RefusedByService', 'SyntaxError');
      },
    },
  }),
});
const TARGET = `${SOURCE}_v3_${RUN}`;

const OBSTACLES: readonly (readonly [about: string, prerequisite: string, Obstacle])[] = [
  ['a source that does not exist', NAMES, { plan: { sourceCollection: 'nothing' } }],
  [
    'a source that is an alias',
    NAMES,
    {
      plan: { sourceCollection: 'other-name' },
      prepare: ({ qdrant }) => createAlias(qdrant.url, 'other-name', SOURCE),
    },
  ],
  [
    'a backend that works on another collection',
    NAMES,
    { prepare: ({ services }) => services.setting.change({ from: SOURCE, to: 'another' }) },
  ],
  ['a target name that is taken', NAMES, withCollection(TARGET)],
  [
    'a target that is an alias',
    NAMES,
    { prepare: ({ qdrant }) => createAlias(qdrant.url, TARGET, SOURCE) },
  ],
  [
    'an alias that would stay on the old collection',
    NAMES,
    { prepare: ({ qdrant }) => createAlias(qdrant.url, 'report-alias', SOURCE) },
  ],
  [
    'points with several vectors each',
    VECTOR_LAYOUT,
    recreateSource({
      vectors: { ...LAYOUT.vectors, multivector_config: { comparator: 'max_sim' } },
    }),
  ],
  ['a companion name that is taken', NAMES, withCollection(`${TARGET}_entities`)],
  ['a restore-test name that is taken', NAMES, withCollection(`restore_drill_${RUN}`)],
  ['a restored-snapshot name that is taken', NAMES, withCollection(`${SOURCE}_restored_${RUN}`)],
  ['a collection left over from an earlier run', NAMES, withCollection(`${SOURCE}_v3_earlier`)],
  [
    'a memory that the new version would not find',
    MEMORIES,
    { prepare: (migration) => addMemory(migration, '{"user_id":"ada lovelace","data":"x"}') },
  ],
  [
    'a memory without a payload',
    MEMORIES,
    { prepare: (migration) => addMemory(migration, 'null') },
  ],
  [
    'a memory that the new version would hide',
    MEMORIES,
    {
      prepare: (migration) =>
        addMemory(migration, '{"user_id":"ada","data":"x","expiration_date":"2020-01-01"}'),
    },
  ],
  [
    'a graph store whose graph is empty',
    GRAPH,
    { changes: () => ({ graph: { readSize: async () => ({ nodes: 0, relationships: 0 }) } }) },
  ],
  ['a store whose shards are not ready', STORE, withResponse(/readyz/, 503, 'not ready')],
  ['an address where no store answers', STORE, withResponse(/^GET \/$/, 200, '<html>')],
  [
    'a key that is not allowed to check whether the store is ready',
    STORE,
    withResponse(/readyz/, 403, 'Forbidden'),
  ],
  [
    'several nodes, each with its own snapshots',
    STORE,
    { changes: () => ({ vectors: { countNodes: async () => 3 } }) },
  ],
  [
    'a distance other than cosine',
    VECTOR_LAYOUT,
    recreateSource({ vectors: { size: 8, distance: 'Dot' } }),
  ],
  [
    'a strict mode that allows too few points per query',
    VECTOR_LAYOUT,
    withStrictMode({ max_query_limit: 100 }),
  ],
  [
    'a strict mode that forbids exact searches',
    VECTOR_LAYOUT,
    withStrictMode({ search_allow_exact: false }),
  ],
  [
    'a strict mode that allows only small batches',
    VECTOR_LAYOUT,
    withStrictMode({ upsert_max_batchsize: 10 }),
  ],
  [
    'a strict mode that allows too few ids per condition',
    VECTOR_LAYOUT,
    {
      ...withStrictMode({ condition_max_size: 511 }),
      why: 'Strict mode: condition_max_size 511 is below',
    },
  ],
  [
    'a strict mode that allows only simple filters',
    VECTOR_LAYOUT,
    {
      ...withStrictMode({ filter_max_conditions: 2 }),
      why: 'Strict mode: filter_max_conditions 2 is below',
    },
  ],
  [
    'a backend that is not healthy',
    'Memory backend',
    { prepare: async ({ backend }) => backend.deploy(undefined) },
  ],
  [
    'a proxy that refuses a body as large as a snapshot',
    'Snapshot upload',
    {
      changes: () => ({ vectors: { probeUpload: refuseWith('A proxy takes no such body.') } }),
      why: 'A proxy takes no such body.',
    },
  ],
  ['unknown free space', SPACE, { plan: { freeBytes: undefined }, why: 'The migration needs' }],
  [
    'too little free space, even if unknown space is accepted',
    SPACE,
    { plan: { freeBytes: 1, accepts: ['unknown-space'] } },
  ],
  ...(
    [
      ['server', 'readServer'],
      ['size', 'readSize'],
      ['position', 'readPosition'],
      ['schema', 'readSchema'],
    ] as const
  ).map(([part, read]): (typeof OBSTACLES)[number] => [
    `a graph whose ${part} cannot be read`,
    GRAPH,
    { changes: () => ({ graph: { [read]: refuseWith('ProcedureNotFound.') } }), why: 'Procedure' },
  ]),
  ['a graph whose nodes cannot be read', GRAPH, withUnreadableRows('streamNodes')],
  ['a graph whose relationships cannot be read', GRAPH, withUnreadableRows('streamRelationships')],
  [
    'a graph store that does not answer',
    GRAPH,
    { changes: () => ({ graph: { readServer: failUnavailable } }) },
  ],
  [
    'a key of another user',
    KEY,
    {
      prepare: async (migration) => grantKey(migration, 'user-1'),
      why: `The memory backend refuses the key for ${TEST_USER}`,
    },
  ],
  ...(
    [
      ['a search', 'search'],
      ['a count', 'countMemories'],
    ] as const
  ).map(([what, call]): (typeof OBSTACLES)[number] => [
    `${what} that finds memories of the test user, who has none`,
    KEY,
    { changes: () => ({ backend: { [call]: async () => 3 } }), why: `Asked for ${TEST_USER}` },
  ]),
  [
    'an unknown key',
    KEY,
    {
      changes: () => ({ backend: { countMemories: refuseWith('It answered 401.') } }),
      why: 'It answered 401.',
    },
  ],
  [
    'a webhook that refuses the token',
    'Webhook',
    { changes: () => ({ hooks: { ask: refuseWith('Not allowed.') } }), why: 'Not allowed.' },
  ],
  [
    'a webhook that does not answer "check" at once',
    'Webhook',
    { changes: () => ({ hooks: { ask: async () => 'under-way' } }), why: 'It answered 202' },
  ],
  [
    'a setting that cannot be written',
    'Collection setting',
    { changes: () => ({ setting: { tryWrite: refuseWith('Not allowed.') } }), why: 'Not allowed.' },
  ],
  [
    'a store that makes no keyword vectors',
    'Keyword vectors',
    {
      changes: () => ({ vectors: { encodesKeywords: async () => false } }),
      why: 'The store does not make keyword vectors',
    },
  ],
  [
    'a new version that cannot be used',
    'New version',
    {
      changes: () => ({ preview: { health: refuseWith('It answered 404.') } }),
      why: 'It answered 404.',
    },
  ],
];

describe('the preflight', () => {
  it('of a store without obstacles reports its facts, and names users only by digest', async () => {
    const migration = await createMigrationAt('checked');
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
    const { report } = await readEvidence(migration, 'preflight-report');
    expect(report).toMatchObject({ testUser: TEST_USER });
    const facts = await Promise.all(
      ['Vector store', 'Vector layout', 'Memories'].map((name) => readFacts(migration, name)),
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
  ])('finds settings that the new version would not use: %o', async (settings, what) => {
    const start = async (options: MigrationOptions, plan: Record<string, unknown>) => {
      const migration = await createMigration(options);
      await recreateSource(settings as Partial<CollectionSettings>).prepare(migration);
      return await migration.start(plan).then(
        () => 'met',
        ({ message }: Error) => message,
      );
    };
    expect(await start({}, {})).toContain(what);
    expect(await start({}, { accepts: ['other-storage'] })).toBe('met');
    expect(await start({ hasPreview: false }, {})).toBe('met');
  });

  it.each(oneInEvery(4, OBSTACLES))(
    'refuses %s, and begins no run',
    async (_, prerequisite, obstacle) => {
      const { prepare, plan, changes, why = '' } = obstacle;
      const migration = await createMigration();
      const { artifacts, vectors } = migration.services;
      await prepare?.(migration);
      const before = await vectors.listCollections();
      const attempt = migration.start(plan, changes?.(migration));
      await expect(attempt).rejects.toEqual(
        failureNamed('RefusedPrerequisites', `${prerequisite}: ${why}`),
      );
      await expect(attempt).rejects.not.toThrow(/ada/);
      await expect(migration.runs.read(RUN)).rejects.toEqual(failureNamed('RefusedUnknownRun'));
      expect(await migration.lock.activeRun()).toBeUndefined();
      expect(await Array.fromAsync(artifacts.list(''))).toEqual([]);
      expect([await vectors.listCollections(), migration.operator.actions]).toEqual([before, []]);
    },
  );

  it('lists all problems at once, in a dry run as well, and creates no run', async () => {
    const migration = await createMigration({ hasGraph: false });
    await addMemory(migration, '{"userId":"ada","expiration_date":"2020-01-01"}');
    const payload = { runId: RUN, sourceCollection: SOURCE };
    const preflight = (options: object) =>
      runPreflight(migration.services, { ...payload, ...options });
    const listFailed = ({ prerequisites }: Pick<PreflightResult, 'prerequisites'>) =>
      prerequisites.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
    const expected = ['Memories', 'Disk space', 'Graph store'];
    for (const execute of [false, true]) {
      const { prerequisites } = await preflight({ execute });
      expect(listFailed({ prerequisites })).toEqual(expected);
      expect(() => assertMet(prerequisites)).toThrow(`Not met: ${expected.join(', ')}.`);
      expect(await migration.services.lock.activeRun()).toBeUndefined();
    }
    const accepts = ['no-graph', 'unknown-space', 'unreachable-users', 'expired-memories'];
    expect(listFailed(await preflight({ accepts }))).toEqual([]);
    expect(await preflight({ execute: true, accepts })).toMatchObject({ dryRun: false });
    expect(await migration.runs.read(RUN)).toMatchObject({ phase: 'checked', plan: { accepts } });
    await expect(preflight({ execute: true, windowMinutes: 9 })).rejects.toThrow(
      'window minutes 30',
    );
  });

  it.each([
    ['no-owner', '{"data":"x"}', /memories that have no user.*: 1\.$/],
    [
      'camel-case-ids',
      '{"userId":"ada","data":"x"}',
      /memories that have their ids under userId.*: 1\.$/,
    ],
    [
      'ids-not-text',
      '{"user_id":5,"data":"x"}',
      /memories that have an id that is not a string: 1\.$/,
    ],
    [
      'ids-with-space',
      '{"user_id":"ada l","data":"x"}',
      /memories that have an id with white space: 1\.$/,
    ],
  ])('passes %s only if that finding is accepted', async (name, memory, why) => {
    const migration = await createMigration();
    await addMemory(migration, memory);
    const payload = { runId: RUN, sourceCollection: SOURCE, freeBytes: 1e9 };
    const listProblems = async (accepts: readonly string[]) => {
      const { prerequisites } = await runPreflight(migration.services, { ...payload, accepts });
      return prerequisites.flatMap(({ problems }) => problems);
    };
    const problem = { why: expect.stringMatching(why), remedy: expect.stringContaining(name) };
    expect(await listProblems(['expired-memories'])).toEqual([problem]);
    expect(await listProblems([name])).toEqual([]);
    expect(await listProblems(['unreachable-users'])).toEqual([]);
  });

  it.each(['agent_id', 'run_id'])('accepts memories whose only owner is in %s', async (key) => {
    const migration = await createMigration();
    await addMemory(migration, `{"${key}":"planner","data":"x"}`);
    await migration.start();
    expect(await readFacts(migration, MEMORIES)).toMatchObject({ points: 61, users: 8 });
  });

  it('says how many nodes a store has, and how to work around several', async () => {
    const { services } = await createMigration();
    const cluster = changeServices(services, { vectors: { countNodes: async () => 3 } });
    const payload = { runId: RUN, sourceCollection: SOURCE };
    const { prerequisites } = await runPreflight(cluster, payload);
    expect(prerequisites.find(({ name }) => name === STORE)?.problems).toEqual([
      { why: 'The store has 3 nodes.', remedy: expect.stringContaining('situations.md') },
    ]);
    expect(readFileSync('docs/migration/situations.md', 'utf8')).toContain('## Several nodes');
  });

  it('reports the prerequisites that it could not check, and checks the others', async () => {
    const runChecks = async (changes: ServiceChanges, sourceCollection = 'nothing') => {
      const { services } = await createMigration();
      const changedServices = changeServices(services, changes);
      const { prerequisites } = await runPreflight(changedServices, {
        runId: RUN,
        sourceCollection,
      });
      const listNames = (checks: typeof prerequisites) => checks.map(({ name }) => name);
      return {
        failed: listNames(
          prerequisites.filter((prerequisite) => !prerequisite.isUnchecked && !isMet(prerequisite)),
        ),
        unchecked: listNames(prerequisites.filter(({ isUnchecked }) => isUnchecked)),
      };
    };
    const unchecked = [
      'Vector layout',
      'API key of the test user',
      'Deployed version',
      'Memories',
      'Disk space',
      'Snapshot upload',
      'In place',
      'Collection setting',
    ];
    expect(await runChecks({})).toEqual({ failed: ['Collection names'], unchecked });
    const setting = { read: async () => 'another' };
    expect(await runChecks({ setting }, SOURCE)).toEqual({
      failed: ['Collection names', 'Disk space'],
      unchecked: [],
    });
    const alias = { alias_name: 'report-alias', collection_name: SOURCE };
    expect(await runChecks({ vectors: { listAliases: async () => [alias] } }, SOURCE)).toEqual({
      failed: ['Collection names', 'Disk space'],
      unchecked: [],
    });
    const unavailable = {
      vectors: { fetchVersion: failUnavailable },
      backend: { health: failUnavailable },
      preview: { health: failUnavailable },
      graph: { readServer: failUnavailable },
      artifacts: { find: failUnavailable },
    };
    expect(await runChecks(unavailable)).toEqual({
      failed: ['Vector store', 'Memory backend', 'New version', 'Graph store', 'Artifacts'],
      unchecked: ['Collection names', ...unchecked, 'Keyword vectors'],
    });
  });

  it('does not report the active collection as left over from an earlier run', async () => {
    const { services } = await createMigration();
    const active = `${SOURCE}_v3_earlier`;
    const vectors = { size: 8, distance: 'Cosine' } as const;
    await services.vectors.createCollection(active, { vectors });
    await services.setting.change({ from: SOURCE, to: active });
    const payload = { runId: RUN, sourceCollection: SOURCE };
    const { prerequisites } = await runPreflight(services, payload);
    const names = prerequisites.find(({ name }) => name === 'Collection names');
    expect(names?.detail).toContain(`the active collection is ${active},`);
    expect(names?.problems.map(({ why }) => why)).toEqual([
      `The memory backend works on ${active}.`,
    ]);
  });

  it('names the aliases that would stay on the old collection, and passes if they are accepted', async () => {
    const { services, qdrant } = await createMigration();
    await createAlias(qdrant.url, 'report-alias', SOURCE);
    const listReasons = async (input: object) => {
      const payload = { runId: RUN, sourceCollection: SOURCE, ...input };
      const { prerequisites } = await runPreflight(services, payload);
      return prerequisites.find(({ name }) => name === NAMES)?.problems.map(({ why }) => why);
    };
    expect(await listReasons({})).toEqual([expect.stringContaining(`${SOURCE}: report-alias`)]);
    expect(await listReasons({ accepts: ['aliases'] })).toEqual([]);
    expect(await listReasons({ inPlace: true })).toEqual([]);
    expect(await listReasons({ movesAliases: true })).toEqual([]);
  });

  it('names the points whose vectors are not numbers, because no collection accepts a copy of them', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const memory = '{"user_id":"ada","data":"Oboe"}';
    const createPointBeyondFloat = (id: number) =>
      createPoint(id, memory, '[1e39,0.0,0.0,0.0,0.0,0.0,0.0,1.0]');
    await vectors.upsert(
      SOURCE,
      [
        createPointBeyondFloat(9_001),
        createPointBeyondFloat(9_002),
        createPoint(9_003, memory, '{}'),
      ],
      'upsert',
    );
    const listProblems = async (plan: object) => {
      const payload = { runId: RUN, sourceCollection: SOURCE, ...plan };
      const { prerequisites } = await runPreflight(migration.services, payload);
      return prerequisites.find(({ name }) => name === MEMORIES)?.problems;
    };
    expect(await listProblems({})).toEqual([
      {
        why: expect.stringMatching(/^2 points .* NaN components: 9001, 9002\./),
        remedy: expect.stringContaining('vectors'),
      },
    ]);
    expect(await listProblems({ inPlace: true })).toEqual([]);
    await vectors.deletePoints(SOURCE, { ids: [toJsonText(9_001), toJsonText(9_002)] });
    expect(await listProblems({})).toEqual([]);
  });

  it('says how to migrate without a graph that does not answer', async () => {
    const { services } = await createMigration();
    const payload = { runId: RUN, sourceCollection: SOURCE, accepts: ['no-graph'] };
    const changedServices = changeServices(services, { graph: { readServer: failUnavailable } });
    const { prerequisites } = await runPreflight(changedServices, payload);
    const graph = prerequisites.find(({ name }) => name === 'Graph store');
    expect(graph?.problems[0]?.remedy).toContain('unset NEO4J_URL');
  });

  it('checks nothing while another run is in progress', async () => {
    const { services, runs } = await createMigrationAt('checked');
    const payload = { runId: 'run-b', sourceCollection: SOURCE };
    for (const execute of [false, true]) {
      const attempt = runPreflight(services, { ...payload, execute });
      await expect(attempt).rejects.toEqual(failureNamed('RefusedOtherRun'));
    }
    await expect(runs.read('run-b')).rejects.toEqual(failureNamed('RefusedUnknownRun'));
  });

  itInFull('begins the run when it is repeated after a kill at any call', async () => {
    const undisturbed = await createMigration();
    const { services, killPoints } = createKillableServices(undisturbed.services);
    await undisturbed.start({}, services);
    expect(killPoints().length).toBeGreaterThan(2);
    for (const killPoint of killPoints()) {
      const migration = await createMigration();
      const attempt = migration.start(
        {},
        createKillableServices(migration.services, killPoint).services,
      );
      await expect(attempt).rejects.toThrow(Killed);
      await migration.start();
      expect((await migration.runs.read(RUN)).phase).toBe('checked');
      expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
    }
  });

  it.each(['checked', 'rebuilt', 'copied'] as const)(
    'of a run that is %s accepts the collections that the run created',
    async (milestone) => {
      const { services } = await createMigrationAt(milestone);
      const payload = { runId: RUN, sourceCollection: SOURCE };
      const { prerequisites } = await runPreflight(services, payload);
      expect(prerequisites.flatMap(({ problems }) => problems)).toEqual([]);
      expect(prerequisites.every(isMet)).toBe(true);
    },
  );

  it('of a run that has opened its window, or was aborted, is refused', async () => {
    for (const [milestone, name] of [
      ['frozen', 'RefusedNotNow'],
      ['live', 'RefusedNotNow'],
    ] as const) {
      const { services } = await createMigrationAt(milestone);
      await expect(runPreflight(services, { runId: RUN })).rejects.toEqual(failureNamed(name));
    }
    const migration = await createMigrationAt('checked');
    await migration.finish('abort');
    await expect(migration.start()).rejects.toEqual(failureNamed('RefusedNotNow', 'aborted'));
  });
});

async function readSpace(migration: Migration) {
  const { neededBytes, freeBytes } = await readFacts(migration, 'Disk space');
  return { neededBytes: Number(neededBytes), freeBytes };
}

describe('free space', () => {
  it('below three copies of the collection plus its keywords is refused, and both sizes are named', async () => {
    const { neededBytes } = await readSpace(await createMigrationAt('checked'));
    const migration = await createMigration();
    const attempt = migration.start({ freeBytes: neededBytes - 1 });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedPrerequisites'));
    const formatBytes = (bytes: number) => bytes.toLocaleString('en');
    await expect(attempt).rejects.toThrow(`${formatBytes(neededBytes - 1)} bytes`);
    await expect(attempt).rejects.toThrow(`${formatBytes(neededBytes)} bytes`);
    await migration.start({ freeBytes: neededBytes });
    expect(await readSpace(migration)).toMatchObject({ neededBytes, freeBytes: neededBytes });
  });

  it('is needed for three copies of vectors and payloads, and for keywords', async () => {
    const migration = await createMigrationAt('checked');
    const { points } = await migration.services.vectors.scroll(SOURCE, { limit: 100 });
    const bytes = points.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    const words = points.reduce(
      (sum, { payload }) =>
        sum + (JSON.parse(payload).data ?? '').split(/[^\p{L}\p{N}]+/u).filter(Boolean).length,
      0,
    );
    const { neededBytes } = await readSpace(migration);
    expect(neededBytes).toBe(3 * (bytes + points.length * 8 * 4) + words * 8);
  });
});

async function startWithGraph(change: (graph: GraphSource) => Partial<GraphSource>) {
  const migration = await createMigration();
  return { attempt: migration.start({}, { graph: change(migration.graph) }) };
}

describe('the graph', () => {
  it('is reported by version, edition and size', async () => {
    const migration = await createMigrationAt('checked');
    const facts = { version: '5.26.0', edition: 'sandbox', nodes: 2, relationships: 1, rules: 1 };
    expect(await readFacts(migration, 'Graph store')).toMatchObject(facts);
  });

  it('is sampled: reading one node proves that nodes can be read', async () => {
    let reads = 0;
    const { attempt } = await startWithGraph((graph) => ({
      async *streamNodes() {
        for await (const node of graph.streamNodes()) {
          reads += 1;
          yield node;
        }
      },
    }));
    await attempt;
    expect(reads).toBe(1);
  });
});

function grantKey({ backend, environment }: Migration, userId: string): void {
  backend.grant(String(environment.MEMORY_BACKEND_KEY), userId);
}

describe('the key of the memory backend', () => {
  it('is proved without writing or creating anything', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const before = await vectors.scroll(SOURCE, { limit: 100 });
    await migration.start();
    expect(await readKeyFacts(migration)).toEqual({ keyOfTestUser: 'proved' });
    expect(migration.backend.writes()).toBe(0);
    expect(await vectors.scroll(SOURCE, { limit: 100 })).toEqual(before);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
  });

  it('is reported as unverified if the backend answers for every user', async () => {
    const migration = await createMigration();
    await migration.start({}, { backend: { search: async () => 0 } });
    expect(await readKeyFacts(migration)).toEqual({ keyOfTestUser: 'unverified' });
  });
});

describe('a probe for the window', () => {
  it('accepts missing keyword vectors if the plan does', async () => {
    const migration = await createMigration();
    const vectors = { encodesKeywords: async () => false };
    await migration.start({ accepts: ['empty-keywords'] }, { vectors });
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
  });

  it('writes nothing in a dry run', async () => {
    const migration = await createMigration();
    const services = changeServices(migration.services, {
      setting: { tryWrite: refuseWith('written') },
      vectors: { createCollection: refuseWith('created') },
    });
    const { prerequisites } = await runPreflight(services, {
      runId: RUN,
      sourceCollection: SOURCE,
    });
    const probed = ['Collection setting', 'Keyword vectors'];
    expect(prerequisites.filter(({ name }) => probed.includes(name))).toMatchObject([
      { detail: 'can be read', problems: [] },
      { detail: 'tried with --execute', problems: [] },
    ]);
  });

  it('never takes over a collection of another program', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const probe = nameKeywordProbe(RUN);
    await vectors.createCollection(probe, LAYOUT);
    await vectors.upsert(probe, [createPoint(1, '{}', VECTOR)], 'upsert');
    await expect(migration.start()).rejects.toThrow(`${probe} has 1 points.`);
    expect(await vectors.count(probe)).toBe(1);
  });

  it('is separate from the probe of another run', async () => {
    const migration = await createMigration();
    await migration.services.vectors.createCollection(nameKeywordProbe('other'), LAYOUT);
    await migration.start();
    expect(await migration.services.vectors.collectionExists(nameKeywordProbe('other'))).toBe(true);
  });
});
