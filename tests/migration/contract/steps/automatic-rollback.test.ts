// A window that is refused or has expired rolls back without a command, from any stage. Writes are never opened on the new version; the
// record keeps the reason; and users return to the old version with all their memories.
import { describe, expect, it } from 'vitest';
import type { Properties } from '../../../../lib/migration/graph/values.ts';
import type { PointVector } from '../../../../lib/migration/ports/vector-store.ts';
import { Refusal, type RefusalName, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { scanCollection } from '../../../../lib/migration/steps/recorded-counts.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { filterByUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { describeInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import { onRequest, type ServiceChanges } from '../../support/changed-services.ts';
import {
  changeFirstPoint,
  deleteFirstPoint,
  emptyCollection,
  writeToOld,
} from '../../support/collections.ts';
import { type Migration, type MigrationOptions, RUN } from '../../support/migration.ts';
import { createMigrationAt, type Milestone } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { watchUntilDone } from '../../support/watching.ts';

const WINDOW_MS = 30 * 60_000;

interface Row {
  /** Milestone that the run has reached */
  readonly milestone: Milestone;
  readonly options?: MigrationOptions;
  readonly plan?: Readonly<Record<string, unknown>>;
  /** Called before the cutover continues */
  readonly before?: (migration: Migration) => unknown;
  readonly changes?: (migration: Migration) => ServiceChanges;
  readonly refused: RefusalName;
  readonly why?: string | RegExp;
  /** True if the change counts as a user's write, and is copied back */
  readonly isEarlyWrite?: true;
}

async function closeWindow(migration: Migration): Promise<void> {
  migration.advanceClock(WINDOW_MS);
  await migration.beat();
}

/** Creates a row in which the window closes during the given call. */
function closeWindowDuring(
  milestone: Milestone,
  port: 'vectors' | 'backend',
  method: 'uploadSnapshot' | 'scroll' | 'findBestMatch',
): Row {
  const changes = (migration: Migration) => {
    const service = migration.services[port] as Record<string, (...args: unknown[]) => unknown>;
    const slowCall = async (...args: unknown[]) => {
      await closeWindow(migration);
      return await service[method]?.(...args);
    };
    return { [port]: { [method]: slowCall } };
  };
  return { milestone, changes, refused: 'RefusedNotNow', why: 'The window closed at' };
}

/** Creates a row in which writes cannot be proved frozen, however often the step tries. */
function createUnprovedRow(status?: number): Row {
  const failure = new RetryableFailure(
    'RetryableUnavailable',
    'Not now.',
    status ? { code: status } : {},
  );
  const addMemory = () => Promise.reject(failure);
  return {
    milestone: 'copied',
    refused: 'RefusedNotFrozen',
    changes: () => ({ backend: { addMemory } }),
  };
}

/** Empties the new collection during the final check: after the deployment, no other scan reads the old collection to its end. */
function emptyDuringFinalCheck(migration: Migration): ServiceChanges {
  const { vectors, hooks } = migration.services;
  let isDeployed = false;
  return {
    hooks: {
      ask: async (request) => {
        isDeployed = request.action === 'deploy-new';
        return await hooks.ask(request);
      },
    },
    vectors: {
      scroll: async (name, request) => {
        const page = await vectors.scroll(name, request);
        const isFinalCheck = isDeployed && name === SOURCE && page.nextOffset === null;
        if (isFinalCheck) await emptyCollection(migration, migration.target);
        return page;
      },
    },
  };
}

const IN_PLACE = { options: { isInPlace: true }, plan: { inPlace: true } };

const withShortcomings = (shortcomings: NonNullable<MigrationOptions['shortcomings']>) => ({
  hasPreview: false,
  shortcomings,
});

const ROWS: Readonly<Record<string, Row>> = {
  'a proxy answers 404 for a collection': {
    milestone: 'copied',
    refused: 'RefusedByService',
    why: '404',
    before: ({ qdrant }) =>
      qdrant.fault({
        on: /points\/count/,
        effect: { kind: 'response', status: 404, body: 'no such route' },
      }),
  },
  'a test write is accepted, although writes should be frozen': {
    milestone: 'copied',
    refused: 'RefusedNotFrozen',
    options: { forgetsToFreeze: true },
  },
  'a test write succeeds, but its response is lost': {
    milestone: 'copied',
    refused: 'RefusedNotFrozen',
    options: { forgetsToFreeze: true },
    changes: ({ services: { backend } }) => ({
      backend: {
        addMemory: async (user, text) => {
          await backend.addMemory(user, text);
          throw new RetryableFailure('RetryableUnavailable', 'POST /memories: no answer');
        },
      },
    }),
  },
  'every test write is answered with a timeout': createUnprovedRow(),
  'every test write is answered with 429': createUnprovedRow(429),
  'every test write is answered with 502': createUnprovedRow(502),
  'every test write is answered with 500': createUnprovedRow(500),
  'the dump of the graph cannot be read back': {
    milestone: 'frozen',
    refused: 'RefusedSnapshot',
    changes: ({ graph }) => ({
      graph: {
        async *streamNodes() {
          const properties = { at: { year: 2026 } } as unknown as Properties;
          for await (const node of graph.streamNodes()) yield { ...node, properties };
        },
      },
    }),
  },
  'the graph is written to while it is dumped': {
    milestone: 'frozen',
    refused: 'RefusedNotFrozen',
    changes: ({ graph }) => ({
      graph: {
        async *streamNodes() {
          yield* graph.streamNodes();
          graph.addNode({ labels: ['person'], properties: { name: 'late' } });
        },
      },
    }),
  },
  'the old collection is written to while it is backed up': {
    milestone: 'frozen-and-backed-up',
    refused: 'RefusedSourceChanged',
    before: (migration) => changeFirstPoint(migration, SOURCE),
  },
  'the store drops a write that it confirmed': {
    milestone: 'frozen-and-backed-up',
    refused: 'RefusedVerification',
    why: /missing: 1.*-report-\d+\.json/,
    before: (migration) => deleteFirstPoint(migration, migration.target),
    changes: () => ({ vectors: { upsert: async () => undefined } }),
  },
  'a memory is missing from the new collection': {
    milestone: 'equal',
    refused: 'RefusedVerification',
    before: (migration) => deleteFirstPoint(migration, migration.target),
  },
  'a memory was changed in the new collection': {
    milestone: 'equal',
    refused: 'RefusedVerification',
    before: (migration) => changeFirstPoint(migration, migration.target),
  },
  'the old collection was written to after the comparison': {
    milestone: 'equal',
    refused: 'RefusedSourceChanged',
    before: (migration) => writeToOld(migration, 'Written after the verification'),
  },
  'the collection was written to after the comparison, in place': {
    milestone: 'equal',
    refused: 'RefusedSourceChanged',
    ...IN_PLACE,
    before: (migration) => writeToOld(migration, 'Written inside the window'),
  },
  'a vector has changed, in place': {
    milestone: 'equal',
    refused: 'RefusedSourceChanged',
    ...IN_PLACE,
    changes: ({ services: { vectors } }) => ({
      vectors: {
        scroll: async (name, request) => {
          const page = await vectors.scroll(name, request);
          const points = page.points.map((point) => {
            // The change is so small that a search for the memory's own words still finds it.
            const text = point.vector?.replace(/\d+\.\d+/, '$&1');
            return text === undefined ? point : { ...point, vector: text as PointVector };
          });
          return { ...page, points };
        },
      },
    }),
  },
  'counts per user have changed, in place': {
    milestone: 'equal',
    refused: 'RefusedSourceChanged',
    ...IN_PLACE,
    changes: ({ services: { vectors } }) => ({
      vectors: {
        facet: async (...args) => {
          const [first, second, ...rest] = await vectors.facet(...args);
          if (!first || !second) return rest;
          return [
            { ...first, count: first.count + 1 },
            { ...second, count: second.count - 1 },
            ...rest,
          ];
        },
      },
    }),
  },
  'the store does not fill keywords, in place': {
    milestone: 'frozen',
    refused: 'RefusedVerification',
    why: /does not fill the keywords of 1 of \d+ points/,
    ...IN_PLACE,
    before: (migration) => writeToOld(migration, 'Written before the freeze'),
    changes: () => ({ vectors: { updateVectors: async () => undefined } }),
  },
  'another client has changed the setting': {
    milestone: 'equal',
    refused: 'RefusedSettingChanged',
    why: `instead of "${SOURCE}"`,
    before: ({ services: { setting } }) => setting.change({ from: SOURCE, to: 'elsewhere' }),
  },
  'the backups cannot be protected from deletion': {
    milestone: 'equal',
    refused: 'RefusedCredentials',
    changes: () => ({
      artifacts: { retain: () => Promise.reject(new Refusal('RefusedCredentials', 'No.')) },
    }),
  },
  'a memory is deleted while the new version is deployed': {
    isEarlyWrite: true,
    milestone: 'equal',
    refused: 'RefusedVerification',
    changes: (migration) =>
      onRequest(migration, 'deploy-new', () => deleteFirstPoint(migration, migration.target)),
  },
  'the old collection is written to while the new version is deployed': {
    milestone: 'equal',
    refused: 'RefusedSourceChanged',
    changes: (migration) =>
      onRequest(migration, 'deploy-new', () => writeToOld(migration, 'Too late')),
  },
  'the new collection is emptied while the final check reads the old one': {
    milestone: 'equal',
    refused: 'RefusedVerification',
    changes: emptyDuringFinalCheck,
  },
  'the new version has no model for keywords': {
    milestone: 'equal',
    refused: 'RefusedNewVersion',
    why: 'fastembed',
    options: withShortcomings({ noKeywordModel: true }),
  },
  'the new version has another embedding model': {
    milestone: 'equal',
    refused: 'RefusedNewVersion',
    why: 'another embedding model',
    options: withShortcomings({ otherEmbeddings: true }),
  },
  'the new version stores no memory': {
    milestone: 'equal',
    refused: 'RefusedNewVersion',
    why: 'does not find a memory that it has stored',
    options: withShortcomings({ emptyExtractions: 9 }),
  },
  'the old version runs instead of the new one, and a smoke test writes to it': {
    milestone: 'equal',
    refused: 'RefusedNewVersion',
    changes: ({ services: { hooks } }) => ({
      hooks: {
        ask: async (request) =>
          await hooks.ask(
            request.action === 'deploy-new' ? { ...request, action: 'open-writes' } : request,
          ),
      },
    }),
  },
  'the migration itself has a defect': {
    milestone: 'equal',
    refused: 'RefusedDefect',
    why: 'TypeError: see the log',
    changes: () => ({ backend: { health: () => Promise.reject(new TypeError('x is no y')) } }),
  },
  'the window has closed': {
    milestone: 'equal',
    refused: 'RefusedNotNow',
    why: 'The window closed at',
    before: closeWindow,
  },
  'a snapshot proves damaged after the window has closed': {
    milestone: 'frozen',
    refused: 'RefusedSnapshot',
    why: 'Damaged.',
    changes: (migration) => ({
      vectors: {
        uploadSnapshot: async () => {
          await closeWindow(migration);
          throw new Refusal('RefusedSnapshot', 'Damaged.');
        },
      },
    }),
  },
  'the window closes while the backup is tested': closeWindowDuring(
    'frozen',
    'vectors',
    'uploadSnapshot',
  ),
  'the window closes while both collections are compared': closeWindowDuring(
    'frozen-and-backed-up',
    'vectors',
    'scroll',
  ),
  'the window closes while the new version is tested': closeWindowDuring(
    'equal',
    'backend',
    'findBestMatch',
  ),
};

describe('a window rolls back if', () => {
  it.each(oneInEvery(4, Object.entries(ROWS)))(
    '%s',
    async (_, { milestone, options, plan, before, changes, refused, why, isEarlyWrite }) => {
      const migration = await createMigrationAt(milestone, options, plan);
      const { services, runs, operator } = migration;
      const { vectors, setting } = services;
      // The scan ignores the memories of the test user.
      const readDigest = async () =>
        (await scanCollection(services, await runs.read(RUN), SOURCE)).contents.digest;
      await before?.(migration);
      const active = await setting.read();
      const attempt = migration.finish('cutover', {}, changes?.(migration));
      await expect(attempt).rejects.toEqual(failureNamed(refused, why));
      const status = await readStatus(services);
      expect(status).toMatchObject({ phase: 'switching-back', refused: { name: refused } });
      expect(status.openedAt).toBeNull();
      // Only a defect is logged with a stack trace: operators have no use for one.
      const logged = migration.logged.find(({ failure }) => failure !== undefined);
      expect(/\n +at /.test(String(logged?.why))).toBe(refused === 'RefusedDefect');
      const frozenDigest = await readDigest();
      await migration.finish('rollback', { actor: 'machine' });
      expect(await readStatus(services)).toMatchObject({
        phase: 'copied',
        refused: { name: refused },
      });
      expect(await setting.read()).toBe(active);
      expect((await readDigest()) === frozenDigest).toBe(!isEarlyWrite);
      expect(await vectors.count(SOURCE, filterByUser(testUserOf(RUN)))).toBe(0);
      const { actions } = operator;
      const isDeployed = actions.includes('deploy-new') || actions.includes('deploy-old');
      expect(actions.slice(isDeployed ? -2 : -1)).toEqual([
        ...(isDeployed ? ['deploy-old'] : []),
        'open-writes',
      ]);
      expect(status.approvedBy).toBe('ada');
    },
  );
});

describeInFull('if the cutover was killed before the rollback began', () => {
  const refused = { name: 'RefusedNotFrozen' };

  async function createKilledCutover(): Promise<Migration> {
    const migration = await createMigrationAt('copied', { forgetsToFreeze: true });
    const { runs } = migration;
    const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
      if (step === 'rollback') throw new Error('Killed');
      await runs.saveCheckpoint(lease, step, checkpoint);
    };
    const attempt = migration.finish('cutover', {}, { runs: { saveCheckpoint } });
    await expect(attempt).rejects.toThrow('Killed');
    return migration;
  }

  it('the watch rolls back at once', async () => {
    const migration = await createKilledCutover();
    const expected = { phase: 'switching', next: 'rollback', isLate: true, refused };
    expect(await readStatus(migration.services)).toMatchObject(expected);
    await watchUntilDone(migration);
    expect(await readStatus(migration.services)).toMatchObject({ phase: 'copied', refused });
  });

  it('a repeated cutover is refused for the first reason, and rolls back', async () => {
    const migration = await createKilledCutover();
    const attempt = migration.finish('cutover');
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotFrozen'));
    await migration.finish('rollback');
    expect(await readStatus(migration.services)).toMatchObject({ phase: 'copied', refused });
  });
});

describe('the record says that the window had closed if', () => {
  it.each([
    [
      'the state machine begins the rollback',
      (migration: Migration) => migration.finish('rollback', { actor: 'machine' }),
    ],
    ['the watch begins the rollback', watchUntilDone],
    ['an operator begins the rollback', (migration: Migration) => migration.finish('rollback')],
  ])('%s', async (_, rollBack) => {
    const migration = await createMigrationAt('equal');
    await closeWindow(migration);
    await rollBack(migration);
    const why = expect.stringContaining('The window closed at');
    const refused = { name: 'RefusedNotNow', why };
    expect(await readStatus(migration.services)).toMatchObject({ phase: 'copied', refused });
  });
});

it('a rate limit that cannot be stored does not begin a rollback', async () => {
  const migration = await createMigrationAt('equal');
  const limitRate = () => Promise.reject(new Refusal('RefusedCredentials', 'Not allowed.'));
  const attempt = migration.invoke('cutover', { maxRate: 100 }, { runs: { limitRate } });
  await expect(attempt).rejects.toEqual(failureNamed('RefusedCredentials'));
  expect(await readStatus(migration.services)).toMatchObject({ phase: 'switching', refused: null });
});

it('a window without a collection to return to says what failed, and why it cannot roll back', async () => {
  const migration = await createMigrationAt('equal');
  const { services, runs } = migration;
  const slowHooks = { hooks: { ask: async () => 'under-way' as const } };
  expect(await migration.invoke('cutover', {}, slowHooks)).toMatchObject({ phase: 'switching' });
  await services.vectors.deleteCollection(SOURCE);
  const health = () => Promise.reject(new Refusal('RefusedNewVersion', 'It does not start.'));
  const changes = { vectors: { fetchVersion: async () => '2.0.0' }, backend: { health } };
  const bothReasons = /store runs 2\.0\.0.*RefusedNewVersion: It does not start\./;
  for (const step of ['cutover', 'rollback'] as const) {
    const attempt = migration.finish(step, { actor: 'machine' }, changes);
    const why = step === 'cutover' ? bothReasons : '';
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo', why));
  }
  expect(await runs.read(RUN)).toMatchObject({
    phase: 'switching',
    refused: { name: 'RefusedNothingToReturnTo', why: expect.stringMatching(bothReasons) },
  });
});

it('the record keeps what a window compared, and what was copied before it', async () => {
  const migration = await createMigrationAt('equal');
  await migration.finish('rollback', { actor: 'machine' });
  const { evidence, lastWindow } = await readStatus(migration.services);
  expect(evidence.map(({ kind }) => kind)).not.toContain('verification-report');
  const compared = lastWindow.find(({ kind }) => kind === 'verification-report');
  expect(compared?.facts).toMatchObject({ points: 60, inserted: 0, copied: 60 });
});
