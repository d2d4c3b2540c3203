// The rollback. Before traffic opens on the new version, nothing can be lost. Afterwards every write is carried over, to the old
// collection or to its restored snapshot, unless the operator leaves the writes behind. Nothing is removed by mistake, and a
// window closes even if an acknowledgement is missing (docs/migration/decisions/0005-automatic-rollback.md).
import { describe, expect, it } from 'vitest';
import { listPartKeys } from '../../../../lib/migration/kept-snapshot.ts';
import { computeLimit } from '../../../../lib/migration/mass-change.ts';
import type { ExternalAction } from '../../../../lib/migration/phases.ts';
import type { HookOutcome } from '../../../../lib/migration/ports/hooks.ts';
import type { ScrolledPoint } from '../../../../lib/migration/ports/vector-store.ts';
import { Refusal, type RefusalName, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import type { StepInput } from '../../../../lib/migration/runs/input.ts';
import { filterTestUser, liveCollectionOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { startNewVersion } from '../../../../sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { describeInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import { changeServices, onRequest, type ServiceChanges } from '../../support/changed-services.ts';
import {
  changeAsUser,
  computeFingerprint,
  deleteFirstPoint,
  deleteFromNew,
  deleteFromOld,
  deleteOldCollection,
  emptyCollection,
  inSequence,
  LAYOUT,
  type MigrationEvent,
  readFirstPoint,
  readStoredManifest,
  startSecondOldVersion,
  writeToNew,
  writeToOld,
} from '../../support/collections.ts';
import { rollBackInPieces } from '../../support/in-pieces.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt, type Milestone } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { watchUntilDone } from '../../support/watching.ts';

const DAY_MS = 86_400_000;
const PAST_WINDOW_MS = 31 * 60_000;
const RESTORED = `${SOURCE}_restored_${RUN}`;
const UPLOADED = 'memories_of_2026';

/** Reads everything that a refused rollback must leave unchanged. */
async function readService({ services, runs, operator }: Migration) {
  // A refused command leaves only the reason in the record.
  const { refused: _, ...record } = await runs.read(RUN);
  return {
    record,
    setting: await services.setting.read(),
    actions: [...operator.actions],
  };
}

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

const readReport = async ({ runs }: Migration) =>
  (await runs.read(RUN)).evidence['rollback-report']?.facts;

const listCollections = ({ services }: Migration) => services.vectors.listCollections();

/** Runs the event once, right before the action is requested. */
function runBefore(migration: Migration, action: ExternalAction, event: () => Promise<void>) {
  let isDue = true;
  return onRequest(migration, action, async () => {
    if (!isDue) return;
    isDue = false;
    await event();
  });
}

/** Creates a webhook that performs each action once per idempotency key. It reports the actions in `ignored` as done anyway. */
function actOnce(
  { services }: Migration,
  ignored: ReadonlySet<string> = new Set(),
  { hooks }: Pick<Migration['services'], 'hooks'> = services,
) {
  const keys = new Set<string>();
  const ask: typeof hooks.ask = async (request) => {
    const { occasion, action } = request;
    const key = `${occasion}:${action}`;
    if (keys.has(key)) return 'done';
    keys.add(key);
    return ignored.has(action) ? 'done' : await hooks.ask(request);
  };
  return { hooks: { ask } };
}

async function refuse(): Promise<never> {
  throw new Refusal('RefusedCredentials', '403.');
}

async function listTakenAlias() {
  return [{ alias_name: RESTORED, collection_name: 'of another program' }];
}

const createLive = () => createMigrationAt('live');

/** Creates a run whose cutover failed: the new version is deployed, but never took traffic. */
async function createFailedCutover(): Promise<Migration> {
  const options = { hasPreview: false, shortcomings: { noKeywordModel: true } };
  const migration = await createMigrationAt('equal', options);
  const attempt = migration.finish('cutover');
  await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion', /fastembed|spaCy/));
  const filter = filterTestUser(await migration.runs.read(RUN));
  await migration.services.vectors.deletePoints(migration.target, { filter });
  return migration;
}

/** Creates a run that has asked to open writes, and waits for that action. */
async function createOpening(): Promise<Migration> {
  const migration = await createMigrationAt('equal');
  const slowHooks = onRequest(migration, 'open-writes', () => 'under-way');
  expect(await migration.invoke('cutover', {}, slowHooks)).toMatchObject({ phase: 'switching' });
  const { openedAt, frozenSince } = await readStatus(migration.services);
  expect([openedAt, frozenSince]).toEqual([expect.any(String), null]);
  return migration;
}

const deleteNewCollection = async ({ services, target }: Migration) =>
  void (await services.vectors.deleteCollection(target));

const loseMemories: MigrationEvent = (migration) =>
  emptyCollection(migration, migration.target, 21);

async function overwriteNew({ services: { vectors }, target }: Migration): Promise<void> {
  const { points } = await vectors.scroll(target, { limit: 21 });
  const payload = '{"user_id":"user-1","data":"Nonsense"}' as (typeof points)[0]['payload'];
  const changed = points.map(({ id, vector = '[]' as never }) => ({ id, vector, payload }));
  await vectors.upsert(target, changed, 'upsert');
}

/** Returns a store that reports the collection as red. */
const makeRed = (name: string) => (migration: Migration) => {
  const { vectors } = migration.services;
  const readCollectionInfo: typeof vectors.readCollectionInfo = async (requested) => {
    const info = await vectors.readCollectionInfo(requested);
    if (!info || requested !== name) return info;
    return { ...info, status: 'red', optimizer_status: { error: 'Service internal error' } };
  };
  return { vectors: { readCollectionInfo } };
};

/** Restores a collection by hand, from points that were read before. */
async function restore(
  { services: { vectors } }: Migration,
  points: readonly ScrolledPoint[],
  name = SOURCE,
): Promise<void> {
  await vectors.createCollection(name, LAYOUT);
  const withVectors = points.map(({ id, vector = '[]' as never, payload }) => ({
    id,
    vector,
    payload,
  }));
  await vectors.upsert(name, withVectors, 'upsert');
}

const addToNew =
  (...texts: string[]): MigrationEvent =>
  (migration) =>
    writeToNew(migration, ...texts);
const addToOld =
  (text: string): MigrationEvent =>
  (migration) =>
    writeToOld(migration, text);

/** Makes every kind of write. New memories come last: their ids are random, so one of them could be the first point. */
const makeEveryWrite = inSequence(
  deleteFromNew,
  async (migration) => {
    const {
      id,
      vector = '[]' as never,
      payload,
    } = await readFirstPoint(migration, migration.target);
    const changed = '{"user_id":"user-2","data":"Changed","n":10.0}' as typeof payload;
    await migration.services.vectors.upsert(
      migration.target,
      [{ id, vector, payload: changed }],
      'upsert',
    );
  },
  addToNew('New fact 1', 'New fact 2'),
);

interface Row {
  /** Creates the run; by default one that is live */
  readonly from?: () => Promise<Migration>;
  /** Happens before the rollback begins */
  readonly before?: MigrationEvent;
  /** Happens right before the first request for that action */
  readonly during?: readonly [ExternalAction, MigrationEvent];
  readonly changes?: (migration: Migration) => ServiceChanges;
  readonly input?: Partial<StepInput>;
  /** True if the window closes while only the watch is running */
  readonly isWatched?: true;
  /** Expected fields of the dry run */
  readonly forecast?: object;
  /** Collection that users are on afterwards */
  readonly activeCollection?: string;
  /** Contents of that collection: those of the old or new collection after these events, or the initial ones */
  readonly contents: 'old' | 'new' | 'initial';
  /** Texts that the active collection contains in addition */
  readonly texts?: readonly string[];
  readonly report?: object;
  /** True if the report names no collection to compare by hand */
  readonly needsNoComparison?: true;
  readonly takesNoWindow?: string;
}

const ROWS: Readonly<Record<string, Row>> = {
  'every write is carried over: created, changed and deleted, in text, vector and user': {
    before: makeEveryWrite,
    forecast: { returnsTo: SOURCE, adds: 2, changes: 1, removes: 1, of: 60, leavesBehind: 0 },
    contents: 'new',
    report: { returnedTo: SOURCE, leftBehind: 0 },
  },
  'a write right before the freeze is carried over, too': {
    during: ['freeze', addToNew('At the last moment')],
    contents: 'new',
  },
  'a memory created after the comparison is carried over': {
    during: ['deploy-old', addToNew('After the walk')],
    contents: 'new',
  },
  'a memory deleted after the comparison is deleted in the old collection, too': {
    during: ['deploy-old', deleteFromNew],
    contents: 'new',
  },
  'a write to the new collection right before writes are opened is carried over': {
    during: ['open-writes', addToNew('Late')],
    contents: 'new',
    needsNoComparison: true,
    report: { leakedWrites: 1, leakedWritesOverruled: 0 },
  },
  'writes of another program to the old collection stay there, and are reported': {
    from: () => createMigrationAt('live', {}, { uploadAs: UPLOADED }),
    // The deletion comes first, because it could otherwise hit the new memory.
    before: inSequence(deleteFromOld, addToOld('From a program that still uses the old one')),
    contents: 'old',
    report: { lateWrites: 2, lateWritesOverruled: 0 },
    needsNoComparison: true,
    takesNoWindow: `users worked on ${UPLOADED}`,
  },
  'test writes of a probe or a smoke test are removed from the old collection': {
    before: async (migration) =>
      await (await startSecondOldVersion(migration)).add(`__migration_test_${RUN}`, 'A probe'),
    contents: 'initial',
  },
  'a write to the old version before writes are opened is not removed by the final check': {
    during: ['deploy-old', inSequence(addToNew('Late, to the new'), addToOld('Early, to the old'))],
    contents: 'new',
    texts: ['Early, to the old'],
    needsNoComparison: true,
  },
  'a permitted number of deletions does not lower the limit on changes': {
    before: (migration) => changeAsUser(migration, migration.target, 'Changed on the new version'),
    input: { deletes: 0 },
    contents: 'new',
  },
  'memories missing from the new collection are removed from the old one if the operator says that users deleted them':
    {
      before: loseMemories,
      input: { deletes: 21 },
      contents: 'new',
    },
  'writes since the switch are left behind and kept, if the operator decides so': {
    before: addToNew('New fact 1', 'New fact 2'),
    input: { asItWas: true },
    contents: 'old',
    forecast: { returnsTo: SOURCE, leavesBehind: 2 },
    report: { returnedTo: SOURCE, leftBehind: 2 },
    takesNoWindow: `memories_v3_${RUN} has writes that were left behind`,
  },
  'users return to the snapshot unchanged if both collections were deleted': {
    before: inSequence(deleteNewCollection, deleteOldCollection),
    input: { asItWas: true },
    activeCollection: RESTORED,
    contents: 'initial',
    takesNoWindow: `users are on ${RESTORED}`,
  },
  'a new collection whose optimizer fails does not block the rollback': {
    before: addToNew('New fact'),
    changes: makeRed(`memories_v3_${RUN}`),
    contents: 'new',
  },
  'writes of a forgotten program to the old collection do not block the rollback, and stay there': {
    before: inSequence(deleteFromOld, addToOld('From a program that still uses the old one')),
    changes: makeRed(`memories_v3_${RUN}`),
    contents: 'old',
    report: { lateWrites: 2, lateWritesOverruled: 0 },
    needsNoComparison: true,
  },
  'if the old collection was deleted, its snapshot is restored, and every write since is carried over':
    {
      before: inSequence(addToNew('New fact 1'), deleteFromNew, deleteOldCollection),
      activeCollection: RESTORED,
      contents: 'new',
      report: { returnedTo: RESTORED, leftBehind: 0 },
      takesNoWindow: `users are on ${RESTORED}`,
    },
  'if the old collection is damaged, its restored snapshot replaces it, and the damaged one stays':
    {
      before: addToNew('New fact'),
      changes: makeRed(SOURCE),
      activeCollection: RESTORED,
      contents: 'new',
      takesNoWindow: `users are on ${RESTORED}`,
    },
  'an emptied old collection is filled again, and nothing is removed from the new one': {
    before: inSequence(addToNew('New fact'), (migration) => emptyCollection(migration, SOURCE)),
    contents: 'new',
    report: { lateWrites: 60, lateWritesWithheld: 60 },
  },
  'acknowledged writes stay in the new collection, and users return to the snapshot': {
    before: addToNew('New fact 1', 'New fact 2'),
    input: { toSnapshot: true, acknowledgedLoss: 2 },
    activeCollection: RESTORED,
    contents: 'initial',
    report: { returnedTo: RESTORED, leftBehind: 2 },
    takesNoWindow: `users are on ${RESTORED}`,
  },
  'early writes to the new version are carried over when users return': {
    from: createFailedCutover,
    isWatched: true,
    contents: 'new',
    before: inSequence(deleteFromNew, addToNew('An early write of a user')),
    report: { returnedTo: SOURCE, leakedWrites: 2, leakedWritesOverruled: 0 },
  },
  'if both collections changed a memory, the change in the old one stays, and the other is kept in a report':
    {
      from: createFailedCutover,
      before: inSequence(
        (migration) => changeAsUser(migration, migration.target, 'Changed on the new version'),
        (migration) => changeAsUser(migration, SOURCE, 'Changed on the old version'),
      ),
      contents: 'old',
      report: { leakedWrites: 1, leakedWritesOverruled: 1, comparedByHand: `memories_v3_${RUN}` },
      takesNoWindow: `memories_v3_${RUN} has writes that were not carried over`,
    },
  'a new collection that was emptied before traffic was opened removes nothing from the old one': {
    from: createFailedCutover,
    before: (migration) => emptyCollection(migration),
    contents: 'old',
    report: { leakedWritesWithheld: 60 },
    takesNoWindow: `memories_v3_${RUN} has writes that were not carried over`,
  },
  'a write to the old version during the freeze is kept': {
    from: createFailedCutover,
    isWatched: true,
    before: addToOld('During the freeze'),
    contents: 'old',
    report: { returnedTo: SOURCE, leftBehind: 0 },
  },
  'a memory deleted from the old collection during the freeze stays deleted': {
    from: createFailedCutover,
    before: deleteFromOld,
    contents: 'old',
  },
  'a new version that does not refuse writes is no reason to keep them frozen': {
    from: createFailedCutover,
    contents: 'old',
    changes: () => ({
      backend: { addMemory: () => Promise.reject(new Error('No write is expected')) },
    }),
  },
  'the window closes by itself even if users may have written': {
    from: createOpening,
    isWatched: true,
    contents: 'old',
  },
  'writes to both collections before the deadline are carried over': {
    from: createOpening,
    isWatched: true,
    contents: 'new',
    texts: ['Outlasted the freeze'],
    before: inSequence(addToNew('Among the first'), addToOld('Outlasted the freeze')),
  },
  'a new collection that was emptied inside the window removes nothing from the old one': {
    from: createOpening,
    isWatched: true,
    contents: 'old',
    texts: ['Among the first'],
    before: inSequence((migration) => emptyCollection(migration), addToNew('Among the first')),
    report: { comparedByHand: `memories_v3_${RUN}` },
    takesNoWindow: `memories_v3_${RUN} has writes that were not carried over`,
  },
  'users return when the window closes even if the new collection was deleted': {
    from: createOpening,
    isWatched: true,
    before: deleteNewCollection,
    contents: 'old',
    takesNoWindow: `memories_v3_${RUN} has writes that were left behind`,
  },
};

describe('users return after a rollback', () => {
  it.each(oneInEvery(5, Object.entries(ROWS)))(
    '%s',
    async (_, { from = createLive, activeCollection = SOURCE, texts = [], ...row }) => {
      const migration = await from();
      const { services, runs } = migration;
      const { vectors } = services;
      const readContents = async (name: string) =>
        (await vectors.collectionExists(name))
          ? await computeFingerprint(vectors, name)
          : undefined;
      const liveCollection = liveCollectionOf(await runs.read(RUN));
      const initial = await readContents(SOURCE);
      const readAll = async () => ({
        initial,
        old: await readContents(SOURCE),
        new: await readContents(liveCollection),
      });
      await row.before?.(migration);
      let expected = await readAll();
      const { forecast, during, input = {} } = row;
      if (forecast) {
        const dryRun = await migration.invoke('rollback', { ...input, execute: false });
        expect(dryRun).toMatchObject({ forecast });
      }
      const duringChanges =
        during &&
        runBefore(migration, during[0], async () => {
          await during[1](migration);
          expected = await readAll();
        });
      if (row.isWatched) {
        migration.advanceClock(PAST_WINDOW_MS);
        await watchUntilDone(migration);
      } else {
        await migration.finish('rollback', input, {
          ...row.changes?.(migration),
          ...duringChanges,
        });
      }
      const { takesNoWindow, phase } = await readStatus(services);
      expect([phase, takesNoWindow]).toEqual(['copied', row.takesNoWindow ?? null]);
      expect(await services.setting.read()).toBe(activeCollection);
      const { points, digest } = await computeFingerprint(vectors, activeCollection);
      if (texts.length === 0) expect({ points, digest }).toEqual(expected[row.contents]);
      else expect(points).toBe((expected[row.contents]?.points ?? 0) + texts.length);
      const page = await vectors.scroll(activeCollection, { limit: 999, vector: false });
      for (const text of texts) {
        expect(page.points.some(({ payload }) => payload.includes(text))).toBe(true);
      }
      // No collection that users worked on is removed, or loses points.
      const current = await readAll();
      if (expected.old && expected.initial) expect(current.old?.points).toBeGreaterThan(0);
      expect(current.new?.points ?? 0).toBeGreaterThanOrEqual(expected.new?.points ?? 0);
      const report = await readReport(migration);
      expect(report).toMatchObject(row.report ?? {});
      if (row.needsNoComparison) expect(report).not.toHaveProperty('comparedByHand');
      expect(migration.operator.actions.at(-1)).toBe('open-writes');
    },
  );
});

it('each walk of a rollback keeps what it overwrites in a separate report', async () => {
  const migration = await createLive();
  const changeBoth = async (when: string) => {
    await changeAsUser(migration, migration.target, `On the new version, ${when}`);
    await changeAsUser(migration, SOURCE, `On the old version, ${when}`);
  };
  await changeBoth('before');
  const services = runBefore(migration, 'open-writes', () => changeBoth('after'));
  await migration.finish('rollback', {}, services);
  const { artifacts } = await migration.image();
  const reports = [...artifacts].filter(([key]) => key.startsWith(`${RUN}/conflicts-`));
  const overwritten = reports.map(([, { content }]) => String(content)).join();
  expect(overwritten).toContain('On the old version, before');
  expect(overwritten).toContain('On the new version, after');
});

interface RefusedRow extends Pick<Row, 'before'> {
  readonly refused: RefusalName;
  readonly why?: RegExp;
  readonly changes: (migration: Migration) => ServiceChanges;
}

const REFUSED_ROWS: Readonly<Record<string, RefusedRow>> = {
  'writes are not frozen': {
    refused: 'RefusedNotFrozen',
    changes: (migration) => onRequest(migration, 'freeze', () => 'done'),
  },
  'the old collection cannot be made equal': {
    refused: 'RefusedVerification',
    before: addToNew('New fact'),
    changes: () => ({ vectors: { upsert: async () => {} } }),
  },
  'the new collection is emptied after writes were frozen': {
    refused: 'RefusedMassChange',
    why: /remove 60 of 60/,
    changes: (migration) => runBefore(migration, 'freeze', () => emptyCollection(migration)),
  },
  'the new collection is emptied after both were compared': {
    refused: 'RefusedMassChange',
    why: /remove at least (59|60) points of memories; at most 20/,
    before: deleteFromNew,
    changes: (migration) => {
      const { vectors } = migration.services;
      let walks = 0;
      const count: typeof vectors.count = async (name, filter) => {
        const points = await vectors.count(name, filter);
        // Empties the new collection at the first call of the second walk.
        if (name === migration.target && !filter && ++walks === 2) await emptyCollection(migration);
        return points;
      };
      return { vectors: { count } };
    },
  },
};

it.each(oneInEvery(3, Object.entries(REFUSED_ROWS)))(
  'users stay on the new version, and can write, if %s',
  async (_, { refused, why, changes, before }) => {
    const migration = await createLive();
    const { vectors, setting, backend } = migration.services;
    const oldContents = await computeFingerprint(vectors, SOURCE);
    await before?.(migration);
    const attempt = migration.finish('rollback', {}, changes(migration));
    await expect(attempt).rejects.toEqual(failureNamed(refused, why));
    expect(await readPhase(migration)).toBe('live');
    expect(migration.operator.actions.at(-1)).toBe('open-writes');
    expect(await setting.read()).toBe(migration.target);
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(oldContents);
    await backend.addMemory(`__migration_test_${RUN}`, 'I can write again.');
    await migration.finish('rollback', { asItWas: true });
    expect(await readPhase(migration)).toBe('copied');
  },
);

describe('before the setting is changed', () => {
  const MILESTONES: readonly Milestone[] = ['frozen', 'frozen-and-backed-up', 'equal'];

  it.each(oneInEvery(3, MILESTONES))(
    'the rollback of a run that is %s only opens writes again',
    async (milestone) => {
      const migration = await createMigrationAt(milestone);
      const { vectors } = migration.services;
      const oldContents = await computeFingerprint(vectors, SOURCE);
      await migration.finish('rollback', { actor: 'machine' });
      expect(await readPhase(migration)).toBe('copied');
      expect(migration.operator.actions.at(-1)).toBe('open-writes');
      expect(migration.operator.actions).not.toContain('deploy-old');
      expect(await computeFingerprint(vectors, SOURCE)).toEqual(oldContents);
      expect(await listCollections(migration)).toContain(migration.target);
      expect(await readStatus(migration.services)).toMatchObject({ next: 'copy', served: [] });
    },
  );
});

async function createUploading(): Promise<Migration> {
  const migration = await createMigrationAt('equal', {}, { uploadAs: UPLOADED });
  const uploadSnapshot = () => Promise.reject(new Error('died'));
  const attempt = migration.finish('cutover', {}, { vectors: { uploadSnapshot } });
  await expect(attempt).rejects.toEqual(failureNamed('RefusedDefect'));
  return migration;
}

async function createDeploying(): Promise<Migration> {
  const migration = await createMigrationAt('equal');
  const hooks = { ask: async () => 'under-way' as const };
  await migration.invoke('cutover', {}, { hooks });
  expect(await migration.services.setting.read()).toBe(migration.target);
  return migration;
}

describeInFull('an old collection that is deleted after the rollback has begun', () => {
  it.each([
    ['uploading', 'freeze', createUploading],
    ['uploading', 'deploy-old', createUploading],
    ['uploading', 'open-writes', createUploading],
    ['deploying the new version', 'freeze', createDeploying],
    ['deploying the new version', 'deploy-old', createDeploying],
    ['deploying the new version', 'open-writes', createDeploying],
    ['about to switch', 'open-writes', () => createMigrationAt('equal')],
  ] as const)('keeps users on the new one: %s, before %s', async (_, action, create) => {
    const migration = await create();
    const { vectors } = migration.services;
    const ownCollections = (await listCollections(migration)).filter((name) => name !== SOURCE);
    expect(ownCollections).toContain(migration.target);
    const services = runBefore(
      migration,
      action,
      async () => void (await vectors.deleteCollection(SOURCE)),
    );
    // The rollback is repeated, as the watch would repeat it.
    for (let n = 0; n < 2; n += 1) {
      const attempt = migration.finish('rollback', { actor: 'machine' }, services);
      await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
      expect(await listCollections(migration)).toEqual(expect.arrayContaining(ownCollections));
      expect(await readPhase(migration)).toBe('switching-back');
      expect(migration.operator.actions.includes('open-writes')).toBe(action === 'open-writes');
    }
  });
});

describe('a refused rollback keeps writes frozen for at most fifteen minutes', () => {
  const MAX_MINUTES = 17;

  /** Repeats the rollback as the watch and the operator do. */
  async function repeatRollback(
    migration: Migration,
    changes: ServiceChanges,
    input: Partial<StepInput>,
  ): Promise<unknown> {
    for (let minute = 0; minute < MAX_MINUTES; minute += 1) {
      const outcome = await migration.finish('rollback', input, changes).catch((error) => error);
      if ((await readPhase(migration)) !== 'switching-back') return outcome;
      expect(outcome).toEqual(failureNamed(outcome.name, 'Writes stay frozen until'));
      migration.advanceClock(60_000);
    }
    throw new Error(`Writes are still frozen after ${MAX_MINUTES} minutes.`);
  }

  const deleteOldBefore = (action: ExternalAction) => (migration: Migration) =>
    runBefore(migration, action, async () => void (await deleteOldCollection(migration)));
  const deleteOldAndSnapshotBefore =
    (action: ExternalAction) =>
    (migration: Migration): ServiceChanges => ({
      ...deleteOldBefore(action)(migration),
      vectors: { fetchVersion: async () => '2.0.0' },
    });
  const lockedSetting = (): ServiceChanges => ({ setting: { change: refuse } });
  const machine = { actor: 'machine' } as const;

  interface TimeoutRow {
    readonly from: () => Promise<Migration>;
    readonly changes: (migration: Migration) => ServiceChanges;
    readonly input?: Partial<StepInput>;
    readonly actions: readonly ExternalAction[];
    readonly phase: 'copied' | 'live' | 'switching';
    readonly activeCollection: (migration: Migration) => string;
    /** True if users find all memories that they expected */
    readonly isComplete: boolean;
    readonly refused?: RefusalName;
  }

  const onNew = { activeCollection: ({ target }: Migration) => target, isComplete: true } as const;
  const onRestored = {
    activeCollection: () => RESTORED,
    isComplete: true,
    phase: 'copied',
  } as const;

  const TIMEOUT_ROWS: Readonly<Record<string, TimeoutRow>> = {
    'then the run stays live if the old collection was deleted after users were moved': {
      ...{ from: createLive, changes: deleteOldBefore('open-writes'), phase: 'live', ...onNew },
      ...{ actions: ['deploy-new', 'open-writes'], refused: 'RefusedNothingToReturnTo' },
    },
    'then users are on the new collection if it was active and the old one was deleted': {
      ...{
        from: createDeploying,
        changes: deleteOldBefore('freeze'),
        input: machine,
        phase: 'switching',
      },
      ...{ ...onNew, actions: ['deploy-new', 'open-writes'], refused: 'RefusedNothingToReturnTo' },
    },
    'then users are on the new collection if the setting cannot be changed': {
      ...{ from: createDeploying, changes: lockedSetting, input: machine, phase: 'switching' },
      ...{ ...onNew, actions: ['deploy-new', 'open-writes'], refused: 'RefusedCredentials' },
    },
    'then users are on the restored snapshot if the old collection was active and was deleted': {
      ...{
        from: createUploading,
        changes: deleteOldBefore('deploy-old'),
        input: machine,
        ...onRestored,
      },
      actions: ['deploy-old', 'open-writes'],
    },
    'then users are on the restored snapshot if nothing was switched yet': {
      ...{
        from: () => createMigrationAt('equal'),
        changes: deleteOldBefore('open-writes'),
        ...onRestored,
      },
      ...{ input: machine, actions: ['deploy-old', 'open-writes'] },
    },
    'then writes open without an old collection if no snapshot can be restored either': {
      ...{
        from: () => createMigrationAt('equal'),
        changes: deleteOldAndSnapshotBefore('open-writes'),
      },
      ...{ input: machine, phase: 'copied', activeCollection: () => SOURCE, isComplete: false },
      actions: ['open-writes', 'open-writes'],
    },
  };

  it.each(oneInEvery(3, Object.entries(TIMEOUT_ROWS)))('%s', async (_, row) => {
    const migration = await row.from();
    const { vectors, setting } = migration.services;
    const complete = await computeFingerprint(vectors, SOURCE);
    const outcome = await repeatRollback(migration, row.changes(migration), row.input ?? {});
    if (row.refused) expect(outcome).toEqual(failureNamed(row.refused));
    expect(await readPhase(migration)).toBe(row.phase);
    expect(migration.operator.actions.slice(-2)).toEqual(row.actions);
    const activeCollection = row.activeCollection(migration);
    expect(await setting.read()).toBe(activeCollection);
    if (row.isComplete)
      expect(await computeFingerprint(vectors, activeCollection)).toEqual(complete);
    else expect(await readReport(migration)).toMatchObject({ oldVersion: 'unproved' });
    // The new collection may be the only copy: it stays, and the next copy does not empty it.
    expect(await computeFingerprint(vectors, migration.target)).toEqual(complete);
    const { takesNoWindow } = await readStatus(migration.services);
    if (row.phase === 'copied') expect(takesNoWindow).toContain(activeCollection);
  });

  it('and a later refusal for as long again, if a repair let the rollback continue', async () => {
    const migration = await createFailedCutover();
    const retryForMinutes = async (changes: ServiceChanges, minutes: number) => {
      for (let minute = 0; minute < minutes; minute += 1) {
        const outcome = await migration
          .finish('rollback', machine, changes)
          .catch((error) => error);
        expect(outcome).toEqual(failureNamed('RefusedCredentials', 'Writes stay frozen until'));
        migration.advanceClock(60_000);
      }
    };
    await retryForMinutes({ setting: { change: refuse } }, 14);
    await retryForMinutes(onRequest(migration, 'open-writes', refuse), 14);
    await migration.finish('rollback', machine);
    expect(await readPhase(migration)).toBe('copied');
    expect(await readReport(migration)).not.toHaveProperty('oldVersion');
  });

  it('then the watch leaves users on the new collection, and a rollback by the operator carries their writes over', async () => {
    const migration = await createDeploying();
    await repeatRollback(migration, deleteOldBefore('freeze')(migration), machine);
    await writeToNew(migration, 'Written while the run waits for its operator');
    migration.advanceClock(PAST_WINDOW_MS);
    const { actions } = await readService(migration);
    await expect(keepWatch(migration.services)).rejects.toEqual(
      failureNamed('RefusedNotNow', 'as no rollback was proved'),
    );
    expect((await readService(migration)).actions).toEqual(actions);
    const { vectors, setting } = migration.services;
    const written = await computeFingerprint(vectors, migration.target);
    await migration.finish('rollback');
    expect(await setting.read()).not.toBe(migration.target);
    expect(await computeFingerprint(vectors, await setting.read())).toEqual(written);
  });

  it('a window that expired long ago opens writes even with no collection to return to', async () => {
    const migration = await createDeploying();
    await deleteOldCollection(migration);
    const changes = { vectors: { fetchVersion: async () => '2.0.0' } };
    const services = changeServices(migration.services, changes);
    migration.advanceClock(PAST_WINDOW_MS);
    await expect(keepWatch(services)).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    expect(migration.operator.actions).not.toContain('open-writes');
    migration.advanceClock(15 * 60_000);
    const ending = repeatRollback(migration, changes, machine);
    expect(await ending).toEqual(failureNamed('RefusedNothingToReturnTo'));
    expect(await migration.services.setting.read()).toBe(migration.target);
    expect(migration.operator.actions.slice(-2)).toEqual(['deploy-new', 'open-writes']);
  });
});

describeInFull('when the old collection', () => {
  it('is deleted after writes were frozen, users can write to the new one again', async () => {
    const migration = await createMigrationAt('live');
    const deleting = runBefore(
      migration,
      'freeze',
      async () => void (await deleteOldCollection(migration)),
    );
    const attempt = migration.finish('rollback', {}, deleting);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    expect(await readPhase(migration)).toBe('live');
    expect(migration.operator.actions.slice(-2)).toEqual(['freeze', 'open-writes']);
  });

  it('was deleted and restored, later writes are carried over again', async () => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(SOURCE, { limit: 999 });
    await writeToNew(migration, 'New fact');
    const written = await computeFingerprint(vectors, migration.target);
    const deleting = runBefore(
      migration,
      'open-writes',
      async () => void (await vectors.deleteCollection(SOURCE)),
    );
    const services = actOnce(migration, new Set(), deleting);
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    await restore(migration, points);
    await migration.finish('rollback', {}, services);
    expect(await readPhase(migration)).toBe('copied');
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
  });

  it('gets another write before the comparison, that write is kept', async () => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    let writes = 0;
    // Only the comparison reads the old collection with its vectors.
    const scroll: typeof vectors.scroll = async (name, request) => {
      if (name === SOURCE && request.vector === undefined && request.limit > 1 && writes === 0) {
        writes += 1;
        await writeToOld(migration, 'Between carrying over and comparing');
      }
      return await vectors.scroll(name, request);
    };
    await writeToNew(migration, 'New fact');
    await migration.finish('rollback', {}, { vectors: { scroll } });
    const { points } = await vectors.scroll(SOURCE, { limit: 999, vector: false });
    for (const text of ['Between carrying over and comparing', 'New fact']) {
      expect(points.some(({ payload }) => payload.includes(text))).toBe(true);
    }
    expect(writes).toBe(1);
  });

  it('is deleted and restored before traffic opens, it receives the early writes', async () => {
    const migration = await createFailedCutover();
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(SOURCE, { limit: 999 });
    await writeToNew(migration, 'An early write of a user');
    const deleting = runBefore(
      migration,
      'open-writes',
      async () => void (await vectors.deleteCollection(SOURCE)),
    );
    const attempt = migration.finish('rollback', {}, deleting);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    await restore(migration, points);
    await migration.finish('rollback');
    expect(await readReport(migration)).toMatchObject({ leakedWrites: 1 });
    const written = await computeFingerprint(vectors, migration.target);
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
  });

  it('got writes while the new one could not be read, they are copied once it can be read again', async () => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    await writeToOld(migration, 'From a program that still uses the old one');
    const oldContents = await computeFingerprint(vectors, SOURCE);
    await migration.finish('rollback', {}, makeRed(migration.target)(migration));
    await migration.finish('copy');
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(oldContents);
    expect(await computeFingerprint(vectors, migration.target)).toEqual(oldContents);
  });

  it('cannot be served because no old version is deployed, the rollback says so, and ends once one is', async () => {
    const migration = await createMigrationAt('live');
    const services = runBefore(migration, 'deploy-old', async () => {
      throw new Refusal('RefusedByService', 'The webhook answered 404 to deploy-old.');
    });
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(
      failureNamed('RetryableUnavailable', '404 to deploy-old'),
    );
    expect(await readPhase(migration)).toBe('switching-back');
    await migration.finish('rollback', {}, services);
    expect(await readPhase(migration)).toBe('copied');
  });
});

describeInFull('after deploy-old', () => {
  /** Lets the webhook report the old version as deployed, without deploying it. */
  const reportUndoneDeployment = (migration: Migration) =>
    onRequest(migration, 'deploy-old', () => 'done');

  const noAnswer = () =>
    Promise.reject(new RetryableFailure('RetryableUnavailable', 'The backend does not answer.'));

  it.each<Milestone>(['equal', 'live'])(
    'writes stay frozen until a new version that still answers is replaced: %s',
    async (milestone) => {
      const migration = await createMigrationAt(milestone);
      const { backend, setting } = migration.services;
      if (milestone === 'equal') {
        const addMemory = () => Promise.reject(new Error('died'));
        const attempt = migration.finish('cutover', {}, { backend: { addMemory } });
        await expect(attempt).rejects.toEqual(failureNamed('RefusedDefect'));
      }
      const services = reportUndoneDeployment(migration);
      for (let n = 0; n < 2; n += 1) {
        const attempt = migration.finish('rollback', {}, services);
        await expect(attempt).rejects.toEqual(failureNamed('RetryableUnavailable', SOURCE));
        expect(await readPhase(migration)).toBe('switching-back');
        expect(await setting.read()).toBe(SOURCE);
        expect(migration.operator.actions.at(-1)).not.toBe('open-writes');
        const write = backend.addMemory(`__migration_test_${RUN}`, 'Let me in.');
        await expect(write).rejects.toMatchObject({ code: 503 });
      }
      await migration.finish('rollback');
      expect(await readPhase(migration)).toBe('copied');
      expect(await readReport(migration)).not.toHaveProperty('oldVersion');
    },
  );

  it('a webhook that executes each request once deploys it when asked a second time', async () => {
    const migration = await createMigrationAt('live');
    const ignored = new Set(['deploy-old']);
    const services = actOnce(migration, ignored);
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toEqual(failureNamed('RetryableUnavailable'));
    ignored.clear();
    await migration.finish('rollback', {}, services);
    expect(await readPhase(migration)).toBe('copied');
    expect(migration.operator.actions.slice(-3)).toEqual(['freeze', 'deploy-old', 'open-writes']);
  });

  it('a backend that does not report its version does not prevent the rollback', async () => {
    const migration = await createMigrationAt('live');
    const isGraphDeprecated = () =>
      Promise.reject(new Refusal('RefusedByService', '/graph/relationships answered 404.'));
    await migration.finish('rollback', {}, { backend: { isGraphDeprecated } });
    expect(await readPhase(migration)).toBe('copied');
    expect(await readReport(migration)).toMatchObject({ oldVersion: 'unproved' });
  });

  it.each(['health', 'isGraphDeprecated'] as const)(
    'a backend that does not answer %s is waited for, but not forever',
    async (call) => {
      const migration = await createFailedCutover();
      const services = { backend: { [call]: noAnswer } };
      for (let minute = 0; minute < 5; minute += 1) {
        const attempt = migration.finish('rollback', {}, services);
        await expect(attempt).rejects.toEqual(
          failureNamed('RetryableUnavailable', `check that "deploy-old" on ${SOURCE} is done`),
        );
        expect(await readPhase(migration)).toBe('switching-back');
        expect(migration.operator.actions.at(-1)).toBe('deploy-old');
        migration.advanceClock(60_000);
      }
      await migration.finish('rollback', {}, services);
      expect(await readPhase(migration)).toBe('copied');
      expect(await readReport(migration)).toMatchObject({ oldVersion: 'unproved' });
    },
  );
});

describeInFull(
  'users can write again even if nothing proves that the old version runs again',
  () => {
    const MAX_MINUTES = 21;

    /** Repeats the rollback while its failures are transient, like the command line. */
    async function repeatRollback(
      migration: Migration,
      services: ServiceChanges,
    ): Promise<unknown> {
      for (let minute = 0; minute < MAX_MINUTES; minute += 1) {
        const failure = await migration.finish('rollback', {}, services).catch((error) => error);
        if (!(failure instanceof RetryableFailure)) return failure;
        migration.advanceClock(60_000);
      }
      throw new Error(`Writes are still frozen after ${MAX_MINUTES} minutes.`);
    }

    const FAULTY_DEPLOYMENTS: Readonly<Record<string, Parameters<typeof onRequest>[2]>> = {
      'is reported as done': () => 'done',
      'is never done': () => 'under-way',
      'is refused': () => Promise.reject(new Refusal('RefusedByService', '404.')),
    };

    it.each(Object.entries(FAULTY_DEPLOYMENTS))(
      'after a window, on the old collection: deploy-old %s',
      async (_, respond) => {
        const migration = await createFailedCutover();
        const services = onRequest(migration, 'deploy-old', respond);
        await repeatRollback(migration, services);
        expect(await readPhase(migration)).toBe('copied');
        expect(await migration.services.setting.read()).toBe(SOURCE);
        expect(migration.operator.actions.at(-1)).toBe('open-writes');
        expect(await readReport(migration)).toMatchObject({
          oldVersion: 'unproved',
          lookAt: expect.stringContaining(SOURCE),
        });
      },
    );

    it.each(Object.entries(FAULTY_DEPLOYMENTS))(
      'in a rollback, on the new one: deploy-old %s',
      async (_, respond) => {
        const migration = await createLive();
        await writeToNew(migration, 'Written while live');
        const { vectors, setting, backend } = migration.services;
        const before = await computeFingerprint(vectors, migration.target);
        const services = onRequest(migration, 'deploy-old', respond);
        const failure = await repeatRollback(migration, services);
        expect(failure).toEqual(failureNamed('RefusedStillNewVersion', 'deploy-old'));
        expect(await readPhase(migration)).toBe('live');
        expect(await setting.read()).toBe(migration.target);
        expect(await computeFingerprint(vectors, migration.target)).toEqual(before);
        expect(migration.operator.actions.at(-1)).toBe('open-writes');
        await backend.addMemory(`__migration_test_${RUN}`, 'I can write again.');
        await migration.finish('rollback');
        expect(await readPhase(migration)).toBe('copied');
      },
    );

    it.each(['health', 'isGraphDeprecated'] as const)(
      'in a rollback, on the new one, deployed again: the backend does not answer %s',
      async (call) => {
        const migration = await createLive();
        await writeToNew(migration, 'Written while live');
        const { vectors, setting, backend } = migration.services;
        const before = await computeFingerprint(vectors, migration.target);
        const noAnswer = () =>
          Promise.reject(
            new RetryableFailure('RetryableUnavailable', 'The backend does not answer.'),
          );
        const failure = await repeatRollback(migration, { backend: { [call]: noAnswer } });
        expect(failure).toEqual(failureNamed('RefusedStillNewVersion', 'does not answer'));
        expect(await readPhase(migration)).toBe('live');
        expect(await setting.read()).toBe(migration.target);
        expect(await computeFingerprint(vectors, migration.target)).toEqual(before);
        expect(migration.operator.actions.slice(-2)).toEqual(['deploy-new', 'open-writes']);
        await backend.addMemory(`__migration_test_${RUN}`, 'I can write again.');
      },
    );

    it('a deployment that was requested again has the full time for its proof', async () => {
      const migration = await createLive();
      let result: HookOutcome = 'done';
      const services = onRequest(migration, 'deploy-old', () => result);
      const attempt = () => migration.invoke('rollback', {}, services);
      while (!migration.operator.actions.includes('deploy-old')) {
        const outcome = await attempt().catch((error: unknown) => error);
        if (outcome instanceof RetryableFailure) break;
        migration.advanceClock(10_000);
      }
      result = 'under-way';
      for (let minute = 0; minute < 6; minute += 1) {
        migration.advanceClock(60_000);
        expect(await attempt()).toMatchObject({ done: false });
      }
      result = 'done';
      await expect(attempt()).rejects.toEqual(failureNamed('RetryableUnavailable'));
      expect(await readPhase(migration)).toBe('switching-back');
    });

    it('on the old collection, if the new version was deployed on it', async () => {
      const migration = await createLive();
      const { services, clock } = migration;
      const settings = { store: services.vectors, collection: SOURCE, dimensions: 8, now: clock };
      const version = await startNewVersion(settings);
      const deployingNew = onRequest(migration, 'deploy-old', () => {
        migration.backend.deploy(version);
        return 'done';
      });
      await repeatRollback(migration, deployingNew);
      expect(await readPhase(migration)).toBe('copied');
      expect(await services.setting.read()).toBe(SOURCE);
      expect(await readReport(migration)).toMatchObject({ oldVersion: 'unproved' });
    });
  },
);

describe('a new collection that is damaged', () => {
  const REFUSED: readonly [string, MigrationEvent, RegExp][] = [
    ['is empty', emptyCollection, /remove 60 of 60 points of memories and change 0; at most 20/],
    ['has lost more than 20', loseMemories, /remove 21 of 60 points of memories and change 0/],
    ['was overwritten', overwriteNew, /remove 0 of 60 points of memories and change 21/],
    ['was deleted', deleteNewCollection, /memories_v3_run-a was deleted/],
  ];

  it.each(REFUSED)('removes nothing from the old one: it %s', async (_, damage, why) => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    const oldContents = await computeFingerprint(vectors, SOURCE);
    await damage(migration);
    const unchanged = await readService(migration);
    for (const execute of [false, true]) {
      const attempt = migration.invoke('rollback', { execute });
      await expect(attempt).rejects.toEqual(failureNamed('RefusedMassChange', why));
    }
    expect(await readService(migration)).toEqual(unchanged);
    const { refused } = await readStatus(migration.services);
    expect(refused).toMatchObject({ name: 'RefusedMassChange', why: expect.stringMatching(why) });
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(oldContents);
    await migration.finish('rollback', { asItWas: true });
    expect(await readPhase(migration)).toBe('copied');
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(oldContents);
  });

  it.each([
    ['is empty', emptyCollection, { leavesBehind: 0, lacking: 60 }, { leftBehind: 0, lacking: 60 }],
    ['was deleted', deleteNewCollection, { leavesBehind: /^unknown/ }, { leftBehind: 'unknown' }],
  ])(
    'is left behind by a rollback to the snapshot, as the dry run says: it %s',
    async (_, damage, forecast, reported) => {
      const migration = await createMigrationAt('live');
      await damage(migration);
      const dryRun = await migration.invoke('rollback', { toSnapshot: true, execute: false });
      const leavesBehind =
        forecast.leavesBehind instanceof RegExp
          ? expect.stringMatching(forecast.leavesBehind)
          : forecast.leavesBehind;
      expect(dryRun).toMatchObject({ forecast: { ...forecast, leavesBehind } });
      await migration.finish('rollback', { toSnapshot: true });
      expect(await migration.services.setting.read()).toBe(RESTORED);
      expect(await readReport(migration)).toMatchObject(reported);
    },
  );

  it.each([500, 400])('makes the rollback fail if it cannot be read: %s', async (code) => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    const failure =
      code === 500
        ? new RetryableFailure('RetryableUnavailable', 'scroll: 500.', { code })
        : new Refusal('RefusedByService', 'scroll: 400.', { code });
    const scroll: typeof vectors.scroll = async (name, request) => {
      if (name === migration.target) throw failure;
      return await vectors.scroll(name, request);
    };
    const services = { vectors: { scroll } };
    const attempt = migration.invoke('rollback', {}, services);
    const why = 'memories_v3_run-a cannot be read';
    await expect(attempt).rejects.toEqual(failureNamed('RefusedMassChange', why));
    await migration.finish('rollback', { asItWas: true }, services);
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect(await readReport(migration)).toMatchObject({ leftBehind: 'unknown' });
  });
});

describeInFull('an old collection that is damaged', () => {
  async function createWithoutOld(...texts: string[]): Promise<Migration> {
    const migration = await createMigrationAt('live');
    await writeToNew(migration, ...texts);
    await deleteOldCollection(migration);
    return migration;
  }

  /** Changes the content under the key, unnoticed by the artifact store. */
  function damageArtifact({ services }: Migration, key: string): ServiceChanges {
    async function* get(requested: string, ...rest: []) {
      for await (const chunk of services.artifacts.get(requested, ...rest)) {
        yield requested === key ? chunk.map((byte) => byte ^ 1) : chunk;
      }
    }
    return { artifacts: { get } };
  }

  async function deleteExpired(
    { services, advanceClock }: Migration,
    key: string,
  ): Promise<ServiceChanges> {
    advanceClock(31 * DAY_MS);
    await services.artifacts.delete(key);
    advanceClock(-31 * DAY_MS);
    return {};
  }

  async function findPart(migration: Migration): Promise<string> {
    return listPartKeys((await readStoredManifest(migration)).snapshot).at(-1) ?? '';
  }

  async function findManifestKey({ runs }: Migration): Promise<string> {
    return (await runs.read(RUN)).evidence['backup-manifest']?.artifact ?? '';
  }

  it.each<[string, (migration: Migration) => Promise<ServiceChanges>]>([
    ['a part of the snapshot is missing', async (run) => deleteExpired(run, await findPart(run))],
    ['a part of the snapshot is damaged', async (run) => damageArtifact(run, await findPart(run))],
    ['the manifest is missing', async (run) => deleteExpired(run, await findManifestKey(run))],
    ['the manifest is damaged', async (run) => damageArtifact(run, await findManifestKey(run))],
    [
      'the store runs another minor version',
      async () => ({ vectors: { fetchVersion: async () => '1.20.0' } }),
    ],
  ])('nothing is changed if %s', async (_, damage) => {
    const migration = await createWithoutOld();
    const changes = await damage(migration);
    const unchanged = await readService(migration);
    for (const execute of [false, true]) {
      const attempt = migration.invoke('rollback', { execute }, changes);
      await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    }
    expect(await readService(migration)).toEqual(unchanged);
    expect(await listCollections(migration)).not.toContain(RESTORED);
  });

  it.each([
    ['does not list aliases', 'RefusedCredentials', refuse],
    ['has that name as an alias', 'RefusedNothingToReturnTo', listTakenAlias],
  ] as const)('nothing is changed if the store %s: %s', async (_, name, listAliases) => {
    const migration = await createWithoutOld();
    const attempt = migration.invoke('rollback', {}, { vectors: { listAliases } });
    await expect(attempt).rejects.toEqual(failureNamed(name));
    expect(await readPhase(migration)).toBe('live');
  });

  it('a collection that a person restores instead is not restored again', async () => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(SOURCE, { limit: 999 });
    await deleteOldCollection(migration);
    const deleting = runBefore(
      migration,
      'open-writes',
      async () => void (await vectors.deleteCollection(RESTORED)),
    );
    const attempt = migration.finish('rollback', {}, deleting);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    await restore(migration, points, RESTORED);
    await migration.finish('rollback', {}, { vectors: { uploadSnapshot: refuse } });
    expect(await readPhase(migration)).toBe('copied');
  });

  it('users stay where they are if the restored snapshot differs from the verified one', async () => {
    const migration = await createWithoutOld();
    const { vectors } = migration.services;
    const countRestoredPoints: typeof vectors.countRestoredPoints = async (name) => {
      const points = await vectors.countRestoredPoints(name);
      if (points) await deleteFirstPoint(migration, name);
      return points;
    };
    const { actions } = await readService(migration);
    const attempt = migration.finish('rollback', {}, { vectors: { countRestoredPoints } });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    expect(await readService(migration)).toMatchObject({ actions, record: { phase: 'live' } });
    expect(await listCollections(migration)).not.toContain(RESTORED);
  });
});

describe('a rollback to the snapshot', () => {
  const input = { toSnapshot: true };

  it.each([undefined, 0, 2])(
    'does not leave 3 writes behind if %s were acknowledged',
    async (acknowledgedLoss) => {
      const migration = await createMigrationAt('live');
      await writeToNew(migration, 'New fact 1', 'New fact 2', 'New fact 3');
      expect(await migration.invoke('rollback', { ...input, execute: false })).toMatchObject({
        forecast: { returnsTo: RESTORED, leavesBehind: 3 },
      });
      const { actions } = await readService(migration);
      const acknowledged = acknowledgedLoss === undefined ? {} : { acknowledgedLoss };
      const attempt = migration.finish('rollback', { ...input, ...acknowledged });
      await expect(attempt).rejects.toEqual(
        failureNamed('RefusedLossNotAcknowledged', /loses 3 writes/),
      );
      expect(await readPhase(migration)).toBe('live');
      expect((await readService(migration)).actions).toEqual(actions);
      expect(await listCollections(migration)).not.toContain(RESTORED);
    },
  );

  it('opens the new version again if it would lose one write more than was acknowledged', async () => {
    const migration = await createMigrationAt('live');
    await writeToNew(migration, 'Known to be left behind');
    const acknowledged = { ...input, acknowledgedLoss: 1 };
    const services = runBefore(migration, 'freeze', () =>
      writeToNew(migration, 'At the last moment'),
    );
    const ignored = new Set(['open-writes']);
    const ignoring = actOnce(migration, ignored, services);
    const attempt = migration.finish('rollback', acknowledged, ignoring);
    // The run checks whether writes are open again.
    await expect(attempt).rejects.toEqual(failureNamed('RetryableUnavailable'));
    expect(await readPhase(migration)).toBe('switching-back');
    ignored.clear();
    const next = migration.finish('rollback', acknowledged, ignoring);
    await expect(next).rejects.toEqual(
      failureNamed('RefusedLossNotAcknowledged', /loses 2 writes/),
    );
    expect(await readPhase(migration)).toBe('live');
    expect(migration.operator.actions.slice(-2)).toEqual(['freeze', 'open-writes']);
  });
});

describeInFull('a window that has expired', () => {
  it('can be finished late by an operator if there is nothing to return to', async () => {
    const migration = await createMigrationAt('equal');
    const { vectors } = migration.services;
    const slowHooks = { hooks: { ask: async () => 'under-way' as const } };
    expect(await migration.invoke('cutover', {}, slowHooks)).toMatchObject({ phase: 'switching' });
    await vectors.deleteCollection(SOURCE);
    const services = changeServices(migration.services, {
      vectors: { fetchVersion: async () => '2.0.0' },
    });
    migration.advanceClock(PAST_WINDOW_MS);
    await expect(keepWatch(services)).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    const byMachine = migration.invoke('cutover', { actor: 'machine' }, services);
    await expect(byMachine).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    const { phase, moves } = await readStatus(services);
    expect([phase, moves.map(({ command }) => command)]).toEqual([
      'switching',
      ['cutover', 'rollback'],
    ]);
    await migration.finish('cutover', {}, services);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('cannot be finished late if there is a collection to return to', async () => {
    const migration = await createMigrationAt('equal');
    const slowHooks = { hooks: { ask: async () => 'under-way' as const } };
    expect(await migration.invoke('cutover', {}, slowHooks)).toMatchObject({ phase: 'switching' });
    migration.advanceClock(PAST_WINDOW_MS);
    const attempt = migration.invoke('cutover');
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotNow', 'The window closed at'));
  });
});

describeInFull('a rollback', () => {
  it('is forecast in pages that the strict mode of the store allows', async () => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    const strict_mode_config = { enabled: true, max_query_limit: 4 };
    for (const name of [SOURCE, migration.target]) {
      await vectors.updateCollection(name, { strict_mode_config });
    }
    const scroll: typeof vectors.scroll = async (name, request) => {
      if (request.limit > 4) throw new Refusal('RefusedByService', 'scroll: 400.');
      return await vectors.scroll(name, request);
    };
    const dryRun = migration.invoke('rollback', { execute: false }, { vectors: { scroll } });
    expect(await dryRun).toMatchObject({ forecast: { adds: 0, changes: 0, removes: 0, of: 60 } });
  });

  it('removes no more than expected for a standby that was emptied, in any number of invocations', async () => {
    const migration = await createOpening();
    const { vectors } = migration.services;
    const strict_mode_config = { enabled: true, max_query_limit: 4 };
    await vectors.updateCollection(migration.target, { strict_mode_config });
    await deleteFirstPoint(migration, migration.target);
    const before = await vectors.count(SOURCE);
    let walks = 0;
    const count: typeof vectors.count = async (name, filter) => {
      const points = await vectors.count(name, filter);
      // Each walk begins with this call, and the second walk is the one that writes.
      if (name === migration.target && !filter && ++walks === 2) await emptyCollection(migration);
      return points;
    };
    await rollBackInPieces(migration, { vectors: { count } });
    expect(await readPhase(migration)).toBe('copied');
    expect(await vectors.count(SOURCE)).toBeGreaterThanOrEqual(
      before - computeLimit({ points: before }),
    );
  });

  it('does not bring back a late write that the cutover carried over and a user deleted since', async () => {
    const migration = await createOpening();
    await writeToOld(migration, 'From a request that outlasted the freeze');
    await migration.finish('cutover');
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(migration.target, { limit: 999 });
    const lateWrites = points.filter(({ payload }) => payload.includes('outlasted the freeze'));
    expect(lateWrites).toHaveLength(1);
    await vectors.deletePoints(migration.target, { ids: lateWrites.map(({ id }) => id) });
    const written = await computeFingerprint(vectors, migration.target);
    await migration.finish('rollback');
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
  });
});

describeInFull('a cutover that has opened writes', () => {
  it.each<[string, (migration: Migration) => ServiceChanges]>([
    ['the late writes cannot be carried over', () => ({ vectors: { upsert: refuse } })],
    ['its report cannot be stored', () => ({ artifacts: { put: refuse } })],
  ])('keeps users on the new version if %s', async (_, changes) => {
    const migration = await createOpening();
    await writeToOld(migration, 'Outlasted the freeze');
    const attempt = migration.finish('cutover', {}, changes(migration));
    await expect(attempt).rejects.toEqual(failureNamed('RefusedCredentials'));
    expect(await readPhase(migration)).toBe('switching');
    const byMachine = migration.invoke('rollback', { actor: 'machine' });
    await expect(byMachine).rejects.toEqual(failureNamed('RefusedNotNow', 'until the window ends'));
    const refused = async () => (await readStatus(migration.services)).refused;
    expect(await refused()).toMatchObject({ name: 'RefusedCredentials' });
    await migration.finish('cutover');
    expect([await readPhase(migration), await refused()]).toEqual(['live', null]);
    expect(migration.operator.actions).not.toContain('deploy-old');
  });

  it('continues after its rollback was refused', async () => {
    const migration = await createOpening();
    const unfrozen = onRequest(migration, 'freeze', () => 'done');
    const attempt = migration.finish('rollback', {}, unfrozen);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotFrozen'));
    expect((await migration.runs.read(RUN)).phase).toBe('switching');
    await migration.finish('cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });
});
