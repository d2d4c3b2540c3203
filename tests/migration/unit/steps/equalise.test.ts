// Equalising two collections: the writes to either side, and the refusals, for every kind of change
import { describe, expect, it, onTestFinished, test } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import type { Base } from '../../../../lib/migration/base.ts';
import type { ReconcileCheckpoint, Reconciled } from '../../../../lib/migration/reconcile.ts';
import { NOTHING_COMPARED } from '../../../../lib/migration/reconcile-report.ts';
import { type RecordedJournal, readStage, resume } from '../../../../lib/migration/runs/journal.ts';
import type { StepContext } from '../../../../lib/migration/runs/step.ts';
import { compare } from '../../../../lib/migration/steps/comparison.ts';
import { type EqualiseOptions, equalise } from '../../../../lib/migration/steps/equalise.ts';
import { NEW, OLD, startCopyScene } from '../../support/copy-scene.ts';
import { createMemoryArtifacts } from '../../support/memory-artifacts.ts';
import { createRunTable } from '../../support/run-table.ts';
import { unwrapPaused } from '../../support/unwrap-paused.ts';
import { createPoint, pointId } from '../../support/vector-stores.ts';

/** Number of memories: more than a step removes or changes without permission */
const COUNT = 24;
const IDS = Array.from({ length: COUNT }, (_, id) => id);
const PAGE_SIZE = 4;

/** The walk resumes at `cursor`; by default at the one that was saved last. */
type Options = Partial<EqualiseOptions> & { readonly cursor?: unknown };

const VECTOR = '[1,0,0,0]';

const createMemory = (id: number, text: string, vector = VECTOR) =>
  createPoint(id, JSON.stringify({ user_id: 'ada', data: text, hash: text }), vector);

/** Creates two equal collections of 24 memories, which are also their last common version. */
async function createScene() {
  const { sandbox, store } = await startCopyScene({ count: 0 });
  onTestFinished(sandbox.close);
  const artifacts = createMemoryArtifacts(createRunTable().clock).store;
  const strict_mode_config = { enabled: true, max_query_limit: PAGE_SIZE };
  const run: { runId: string; base?: Base } = { runId: 'spring' };
  const saved: RecordedJournal[] = [];
  let epoch = 0;

  async function put(collection: string, ids: readonly number[], text: string, vector?: string) {
    if (text === '-') await store.deletePoints(collection, { ids: ids.map(pointId) });
    else
      await store.upsert(
        collection,
        ids.map((id) => createMemory(id, text, vector)),
        'upsert',
      );
  }

  /** @param pages number of pages for which the invocation has time */
  async function invoke(
    { cursor, ...options }: Options,
    pages = Number.POSITIVE_INFINITY,
    vectors = store,
  ) {
    epoch += 1;
    let remainingPages = pages;
    const scroll: VectorStore['scroll'] = async (collection, request) => {
      // A page without an offset only chooses the settings.
      if (collection === OLD && 'offset' in request) remainingPages -= 1;
      return await vectors.scroll(collection, request);
    };
    const work = {
      services: { vectors: { ...vectors, scroll }, artifacts },
      run,
      lease: { epoch },
      renewLease: async () => {},
      updateRun: async (changes: { base: Base }) => void Object.assign(run, changes),
      hasTime: () => remainingPages > 0,
      workedMs: () => 0,
    };
    const last = saved.at(-1);
    const context = resume(work, {
      cursor: cursor ?? (last && JSON.parse(JSON.stringify(last))),
      saveCursor: async (kept: unknown) => void saved.push(kept as RecordedJournal),
    });
    return await equalise(context as unknown as StepContext, {
      active: OLD,
      standby: NEW,
      walk: 'test',
      base: 'continued',
      users: 'frozen',
      onExcess: 'refuse',
      ...options,
    }).catch((error: unknown) => void unwrapPaused(error));
  }

  /** Finishes the work in invocations that each have time for one page. */
  async function finish(options: Options) {
    for (let invocations = 1; invocations < 40; invocations += 1) {
      const equalised = await invoke(options, 1);
      if (equalised) return { equalised, invocations };
    }
    throw new Error('The work has not finished after 40 invocations.');
  }

  /** Counts the memories by their text. */
  async function countByText(collection: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    const { points } = await store.scroll(collection, { limit: 4 * COUNT });
    for (const { payload } of points) {
      const { data } = JSON.parse(payload);
      counts[data] = (counts[data] ?? 0) + 1;
    }
    return counts;
  }

  const readLast = (stage: string) => readStage(saved.at(-1) ?? { passed: {} }, stage);

  for (const name of [OLD, NEW]) await put(name, IDS, 'a');
  await invoke({});
  saved.length = 0;
  return {
    readLast,
    artifacts,
    store,
    saved,
    run,
    put,
    invoke,
    finish,
    countByText,
    limitPages: async () => {
      for (const name of [OLD, NEW]) await store.updateCollection(name, { strict_mode_config });
    },
  };
}

type Scene = Awaited<ReturnType<typeof createScene>>;

type Row = readonly [
  title: string,
  change: (scene: Scene) => Promise<void>,
  options: Options,
  active: Record<string, number>,
  standby: Record<string, number>,
];

const UNCHANGED = { a: COUNT };
const emptyCollection =
  (collection: string) =>
  async ({ put }: Scene) =>
    await put(collection, IDS, '-');

const WRITTEN: readonly Row[] = [
  ['a few deletions', ({ put }) => put(OLD, [0, 1], '-'), {}, { a: 22 }, { a: 22 }],
  ['a new memory', ({ put }) => put(OLD, [90], 'b'), {}, { a: COUNT, b: 1 }, { a: COUNT, b: 1 }],
  ['a late deletion', ({ put }) => put(NEW, [0], '-'), {}, { a: 23 }, { a: 23 }],
  ['a late change', ({ put }) => put(NEW, [0], 'b'), {}, { a: 23, b: 1 }, { a: 23, b: 1 }],
  [
    'a late change that no user made',
    ({ put }) => put(NEW, [0], 'b'),
    { isUserChange: () => false },
    UNCHANGED,
    UNCHANGED,
  ],
  ['a standby that was emptied', emptyCollection(NEW), {}, UNCHANGED, UNCHANGED],
  [
    'a standby that was changed throughout',
    ({ put }) => put(NEW, IDS, 'b'),
    {},
    UNCHANGED,
    UNCHANGED,
  ],
  [
    'a standby without a last common version',
    ({ put }) => put(NEW, [0], 'b'),
    { base: 'begun' },
    UNCHANGED,
    UNCHANGED,
  ],
  [
    'an active collection that was emptied, as the operator allowed',
    emptyCollection(OLD),
    { deletes: COUNT },
    {},
    {},
  ],
  [
    'an active collection that was emptied, if only inserts are allowed',
    async (scene) => {
      await emptyCollection(OLD)(scene);
      await scene.put(OLD, [90], 'b');
    },
    { onExcess: 'insert' },
    { b: 1 },
    { a: COUNT, b: 1 },
  ],
  [
    'an active collection that was changed throughout, if only removals are limited',
    ({ put }) => put(OLD, IDS, 'b'),
    { onExcess: 'insert', limitedChanges: 'none' },
    { b: COUNT },
    { b: COUNT },
  ],
  [
    'a standby on which users never worked',
    emptyCollection(OLD),
    { onExcess: 'write', base: undefined },
    {},
    {},
  ],
  [
    'a walk that carries only late writes',
    async ({ put }) => {
      await put(NEW, [0], 'b');
      await put(OLD, [1], 'c');
    },
    { mode: 'carry', onExcess: 'write', users: 'writing' },
    { a: 22, b: 1, c: 1 },
    { a: 23, b: 1 },
  ],
  [
    'an active collection that is read-only',
    async ({ put }) => {
      await put(NEW, [0], 'b');
      await put(OLD, [1], 'c');
    },
    { isActiveReadOnly: true },
    { a: 23, c: 1 },
    { a: 22, b: 1, c: 1 },
  ],
];

describe('both collections get the expected memories', () => {
  test.each(WRITTEN)('%s', async (_, change, options, active, standby) => {
    const scene = await createScene();
    await change(scene);
    const { faults } = (await scene.invoke(options)) ?? {};
    expect(faults).toEqual([]);
    expect([await scene.countByText(OLD), await scene.countByText(NEW)]).toEqual([active, standby]);
  });
});

const reembed = ({ put }: Scene) => put(OLD, IDS, 'a', '[0,1,0,0]');

const REFUSED: readonly (readonly [string, Row[1], Options])[] = [
  ['an active collection that was emptied', emptyCollection(OLD), {}],
  [
    'an active collection that lost more than expected',
    ({ put }) => put(OLD, IDS.slice(1), '-'),
    {},
  ],
  ['an active collection that was changed throughout', ({ put }) => put(OLD, IDS, 'b'), {}],
  ['an active collection with vectors of another model', reembed, { limitedChanges: 'vectors' }],
  ['an active collection without a last common version', emptyCollection(OLD), { base: 'begun' }],
];

describe('a change is refused before anything is written', () => {
  test.each(REFUSED)('%s', async (_, change, options) => {
    const scene = await createScene();
    await scene.limitPages();
    await change(scene);
    const { upsert, deletePoints } = scene.store;
    let writes = 0;
    const countingStore: VectorStore = {
      ...scene.store,
      upsert: async (...args) => {
        writes += 1;
        await upsert(...args);
      },
      deletePoints: async (...args) => {
        writes += 1;
        await deletePoints(...args);
      },
    };
    const attempt = scene.invoke(options, undefined, countingStore);
    await expect(attempt).rejects.toMatchObject({ name: 'RefusedMassChange' });
    expect(writes).toBe(0);
  });
});

describe('a store that drops writes', () => {
  it.each([
    ['frozen', ['missing: 1', 'contents differ', 'counts per user differ']],
    ['writing', []],
  ] as const)('is detected while users are %s', async (users, faults) => {
    const { put, invoke, store } = await createScene();
    await put(OLD, [90], 'b');
    const dropping = { ...store, upsert: async () => {} };
    const equalised = await invoke({ users }, undefined, dropping);
    expect(equalised).toMatchObject({ faults, report: { pending: { missing: 1 } } });
  });
});

describe('a comparison is repeated after the repair of', () => {
  it.each(REFUSED.slice(0, 3))('%s', async (_, change, options) => {
    const { finish, limitPages, put, ...scene } = await createScene();
    await limitPages();
    await change({ finish, limitPages, put, ...scene });
    const refusal = { name: 'RefusedMassChange' };
    for (const _ of ['at first', 'and again']) {
      await expect(finish(options)).rejects.toMatchObject(refusal);
    }
    await put(OLD, IDS, 'a');
    expect((await finish(options)).equalised.faults).toEqual([]);
  });

  it('a store that dropped a write', async () => {
    const { put, invoke, store } = await createScene();
    await put(OLD, [90], 'b');
    await put(OLD, [0], '-');
    const dropping = { ...store, upsert: async () => {} };
    const first = await invoke({}, undefined, dropping);
    expect(first).toMatchObject({ faults: expect.arrayContaining(['missing: 1']) });
    expect(await invoke({})).toMatchObject({ faults: [], report: { deleted: 1 } });
  });

  it('a standby collection, whose earlier removals still count', async () => {
    const { put, invoke, saved, store, countByText } = await createScene();
    await put(OLD, [90], 'b');
    await put(OLD, IDS.slice(0, 15), '-');
    await invoke({}, undefined, { ...store, upsert: async () => {} });
    await put(OLD, IDS.slice(15, 21), '-');
    await expect(invoke({})).rejects.toMatchObject({ name: 'RefusedMassChange' });
    const earlier = { removals: { first: 0, second: 15 } };
    expect(saved.at(-1)?.passed['#earlier']?.found).toMatchObject(earlier);
    expect(await countByText(NEW)).toEqual({ a: 9 });
  });
});

test('two equal collections that have not changed are read once', async () => {
  const { invoke, saved, limitPages } = await createScene();
  await limitPages();
  expect(await invoke({ limitedChanges: 'vectors' })).toMatchObject({ faults: [] });
  expect(Object.keys(saved.at(-1)?.passed ?? {})).toEqual(['compared']);
});

test('two equal collections that have changed are read again for the last common version', async () => {
  const { invoke, put, saved, run } = await createScene();
  for (const name of [OLD, NEW]) await put(name, [7], 'b');
  const { digest } = run.base ?? {};
  expect(await invoke({ limitedChanges: 'vectors' })).toMatchObject({ faults: [] });
  expect(Object.keys(saved.at(-1)?.passed ?? {})).toEqual(['compared', 'written']);
  expect(run.base?.digest).not.toBe(digest);
});

const IN_PIECES: readonly Row[] = [
  ['a few deletions', ({ put }) => put(OLD, [0, 9, 20], '-'), {}, { a: 21 }, { a: 21 }],
  [
    'a standby that was emptied',
    emptyCollection(NEW),
    { mode: 'carry', onExcess: 'write', users: 'writing' },
    UNCHANGED,
    {},
  ],
  [
    'an active collection that was emptied',
    emptyCollection(OLD),
    { onExcess: 'insert' },
    {},
    UNCHANGED,
  ],
];

test.each(IN_PIECES)(
  '%s, in invocations of one page each',
  async (_, change, options, ...expected) => {
    const scene = await createScene();
    await scene.limitPages();
    await change(scene);
    const { equalised, invocations } = await scene.finish(options);
    expect(equalised.faults).toEqual([]);
    expect(invocations).toBeGreaterThan(10);
    expect([await scene.countByText(OLD), await scene.countByText(NEW)]).toEqual(expected);
  },
);

test('a first comparison, which starts the last common version, reads both collections once', async () => {
  const { run, saved, finish, limitPages } = await createScene();
  await limitPages();
  delete run.base;
  const { equalised } = await finish({ onExcess: 'write' });
  expect(equalised.report.compared).toBe(COUNT);
  expect(Object.keys(saved.at(-1)?.passed ?? {})).toEqual(['written']);
});

interface Writing {
  readonly reached: ReconcileCheckpoint;
  readonly insertsOnly: boolean;
}

/** Creates the record of a walk that has made twenty removals, and has yet to compare the last twelve memories. */
function createInterrupted(changes: Partial<Writing> = {}): RecordedJournal {
  const reached: ReconcileCheckpoint = {
    report: NOTHING_COMPARED,
    nextOffset: pointId(12),
    removals: { first: 0, second: 20 },
  };
  const cursor = { reached, insertsOnly: false, ...changes };
  return { passed: {}, open: { stage: 'written', cursor } };
}

test('an interrupted walk counts its removals, and resumes once it may remove no more', async () => {
  const { put, invoke, countByText } = await createScene();
  await put(OLD, [3, 15], '-');
  const cursor = createInterrupted();
  await expect(invoke({ cursor })).rejects.toMatchObject({ name: 'RefusedMassChange' });
  expect(await countByText(NEW)).toEqual(UNCHANGED);
  await put(OLD, [15], 'a');
  expect(await invoke({ cursor })).toMatchObject({ report: { compared: COUNT - 12 } });
});

test('each invocation resumes where the previous one ended', async () => {
  const { put, limitPages, finish, saved, readLast } = await createScene();
  await limitPages();
  await put(OLD, [15], '-');
  saved.push(createInterrupted());
  const { equalised } = await finish({ deletes: 21 });
  expect(equalised).toMatchObject({ faults: [], report: { compared: COUNT - 12 } });
  expect((readLast('written') as Reconciled).removals).toEqual({ first: 0, second: 21 });
});

test('a walk that only inserts continues to do so', async () => {
  const { put, invoke, countByText } = await createScene();
  await put(OLD, [15], '-');
  const cursor = createInterrupted({ insertsOnly: true });
  const resumed = await invoke({ cursor, onExcess: 'insert' });
  expect(resumed).toMatchObject({ report: { compared: COUNT - 12 } });
  expect(await countByText(NEW)).toEqual(UNCHANGED);
});

describe('the result of a finished comparison is used again', () => {
  async function compareBoth({ run, store, artifacts }: Scene) {
    const services = { vectors: store, artifacts };
    const sources = { active: OLD, standby: NEW, base: run.base };
    return await compare({ services, run } as unknown as StepContext, sources);
  }

  test.each([
    ['before the walk', {}],
    ['during the walk', createInterrupted()],
  ])('%s: damage that it found is not carried back', async (_, journal) => {
    const scene = await createScene();
    await emptyCollection(NEW)(scene);
    const result = await compareBoth(scene);
    await scene.put(NEW, IDS, 'a');
    await scene.put(NEW, [15], '-');
    await scene.invoke({ cursor: { ...journal, passed: { compared: { found: result } } } });
    expect(await scene.countByText(OLD)).toEqual(UNCHANGED);
  });

  test('memories that it found missing in two empty collections are copied', async () => {
    const scene = await createScene();
    for (const name of [OLD, NEW]) await scene.put(name, IDS, '-');
    await scene.invoke({ deletes: COUNT });
    expect(scene.run.base).toMatchObject({ points: 0 });
    await scene.put(OLD, [0, 1], 'b');
    const cursor = { passed: { compared: { found: await compareBoth(scene) } } };
    await scene.invoke({ cursor, onExcess: 'insert', limitedChanges: 'vectors' });
    expect(await scene.countByText(NEW)).toEqual({ b: 2 });
  });
});
