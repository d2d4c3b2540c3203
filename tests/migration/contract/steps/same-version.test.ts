// The backend already runs the new version, but on a collection without the keyword slot, so that searches find by meaning
// alone. The run then deploys no version, in either direction: it changes the collection and the slot, and moves the entities
// with the memories.
import { describe, expect, it } from 'vitest';
import { computeLimit } from '../../../../lib/migration/mass-change.ts';
import type { PointId, PointPayload } from '../../../../lib/migration/ports/vector-store.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { startNewVersion } from '../../../../sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import { onRequest, type ServiceChanges } from '../../support/changed-services.ts';
import { computeFingerprint, emptyCollection } from '../../support/collections.ts';
import { rollBackInPieces } from '../../support/in-pieces.ts';
import { Killed } from '../../support/killable-services.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt, type Milestone } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

const ENTITIES = `${SOURCE}_entities`;

const createUpgradedAt = (milestone: Milestone, plan = {}) =>
  createMigrationAt(milestone, { isUpgraded: true }, plan);

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

/** Creates copies of the first entity that belong to no memory. */
async function createEntities({ services: { vectors } }: Migration, count: number) {
  const [entity] = (await vectors.scroll(ENTITIES, { limit: 1 })).points;
  if (!entity?.vector) throw new Error('There is no entity.');
  const { payload, vector } = entity;
  const createId = () => `"${crypto.randomUUID()}"` as PointId;
  return Array.from({ length: count }, () => ({ id: createId(), payload, vector }));
}

/** Adds a memory through the new version, which also stores the memory's entities. */
async function addMemory({ services, clock }: Migration, collection: string, text: string) {
  const settings = { store: services.vectors, collection, dimensions: 8, now: clock };
  await (await startNewVersion(settings)).add('user-1', text);
}

/** Creates a live migration with a memory and its entities from before the migration. */
async function cutOverWithEntities(): Promise<Migration> {
  const migration = await createUpgradedAt('checked');
  await addMemory(migration, SOURCE, 'I met Ada Lovelace in London');
  await migration.follow('backup', 'rebuild', 'copy', 'cutover');
  return migration;
}

const listDeployments = (migration: Migration) =>
  migration.operator.actions.filter((action) => action !== 'freeze');

/** Makes the smoke test of the backend fail */
const failingSmokeTest = {
  backend: { chat: () => Promise.reject(new Refusal('RefusedByService', '400.')) },
};

describe('a backend that runs the new version already', () => {
  it('is recognised by the preflight, and recorded in the plan', async () => {
    const migration = await createUpgradedAt('checked');
    expect((await migration.runs.read(RUN)).plan).toMatchObject({ sameVersion: true });
    const ordinary = await createMigrationAt('checked');
    expect((await ordinary.runs.read(RUN)).plan).not.toHaveProperty('sameVersion');
  });

  it('moves to the new collection, with memories and entities, and back', async () => {
    const migration = await createUpgradedAt('checked');
    const { services, target } = migration;
    const { vectors, setting } = services;
    await addMemory(migration, SOURCE, 'I met Ada Lovelace in London');
    await migration.follow('backup', 'rebuild', 'copy');
    await addMemory(migration, SOURCE, 'I met Grace Hopper in Arlington');
    const memories = await computeFingerprint(vectors, SOURCE);
    const entities = await computeFingerprint(vectors, ENTITIES);
    expect(entities.points).toBeGreaterThan(2);
    await migration.finish('cutover');
    expect(await computeFingerprint(vectors, target)).toEqual(memories);
    expect(await computeFingerprint(vectors, `${target}_entities`)).toEqual(entities);

    await addMemory(migration, target, 'I met Maria Sibylla in Suriname');
    const written = await computeFingerprint(vectors, `${target}_entities`);
    await migration.finish('rollback');
    expect(await readPhase(migration)).toBe('copied');
    expect(await setting.read()).toBe(SOURCE);
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(
      await computeFingerprint(vectors, target),
    );
    expect(await computeFingerprint(vectors, ENTITIES)).toEqual(written);
    expect(listDeployments(migration)).toEqual([
      'deploy-new',
      'open-writes',
      'deploy-new',
      'open-writes',
    ]);
    const report = (await migration.runs.read(RUN)).evidence['rollback-report']?.facts;
    expect(report).not.toHaveProperty('oldVersion');
  });

  it.each(oneInEvery(2, [{}, { inPlace: true }]))(
    'is opened again after a refused window: %j',
    async (plan) => {
      const isInPlace = 'inPlace' in plan;
      const migration = await createMigrationAt('copied', { isUpgraded: true, isInPlace }, plan);
      const { vectors } = migration.services;
      const before = await computeFingerprint(vectors, SOURCE);
      await expect(migration.finish('cutover', {}, failingSmokeTest)).rejects.toEqual(
        failureNamed('RefusedByService'),
      );
      await migration.finish('rollback', { actor: 'machine' });
      expect(await readPhase(migration)).toBe('copied');
      expect(migration.operator.actions.at(-1)).toBe('open-writes');
      expect(migration.operator.actions).not.toContain('deploy-old');
      expect(await computeFingerprint(vectors, SOURCE)).toEqual(before);
      await migration.follow('copy', 'cutover');
      expect(await readPhase(migration)).toBe('live');
    },
  );

  itInFull('stays on the new collection if it is not restarted on the old one', async () => {
    const migration = await createUpgradedAt('live');
    const ignored = onRequest(migration, 'deploy-new', () => 'done');
    expect(await repeatRollback(migration, ignored)).toEqual(
      failureNamed('RefusedStillNewVersion', migration.target),
    );
    expect(await readPhase(migration)).toBe('live');
    expect(await migration.services.setting.read()).toBe(migration.target);
    expect(migration.operator.actions.at(-1)).toBe('open-writes');
  });

  it("is refused a window if it runs a version other than the plan's", async () => {
    const migration = await createUpgradedAt('copied');
    const isGraphDeprecated = async () => false;
    const attempt = migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
    await expect(attempt).rejects.toEqual(
      failureNamed('RefusedPrerequisites', 'runs the old version'),
    );
    expect(await readPhase(migration)).toBe('copied');
  });

  itInFull('keeps its entities if the new companion collection was emptied', async () => {
    const migration = await cutOverWithEntities();
    const { vectors } = migration.services;
    const entities = await computeFingerprint(vectors, ENTITIES);
    await emptyCollection(migration, `${migration.target}_entities`);
    await migration.finish('rollback');
    expect(await computeFingerprint(vectors, ENTITIES)).toEqual(entities);
    expect(entities.points).toBeGreaterThan(0);
  });

  itInFull(
    'loses no more entities than expected if those of the new collection were replaced, in any number of invocations',
    async () => {
      const migration = await cutOverWithEntities();
      const { vectors } = migration.services;
      const replaced = `${migration.target}_entities`;
      await vectors.upsert(ENTITIES, await createEntities(migration, 60), 'upsert');
      const replacements = await createEntities(migration, 60);
      await emptyCollection(migration, replaced);
      await vectors.upsert(replaced, replacements, 'upsert');
      const strict_mode_config = { enabled: true, max_query_limit: 4 };
      await vectors.updateCollection(replaced, { strict_mode_config });
      const before = await vectors.count(ENTITIES);
      await rollBackInPieces(migration);
      const minimum = before - computeLimit({ points: before });
      expect(await vectors.count(ENTITIES)).toBeGreaterThanOrEqual(minimum + 60);
    },
  );

  itInFull('keeps all changes that users made to its entities', async () => {
    const migration = await cutOverWithEntities();
    const { vectors } = migration.services;
    const companion = `${migration.target}_entities`;
    const entities = await createEntities(migration, 24);
    const changed = entities.map((entity) => ({
      ...entity,
      payload: JSON.stringify({ ...JSON.parse(entity.payload), data: 'Ada King' }) as PointPayload,
    }));
    await vectors.upsert(ENTITIES, entities, 'upsert');
    await vectors.upsert(companion, changed, 'upsert');
    const written = await computeFingerprint(vectors, companion);
    await migration.finish('rollback');
    expect(await computeFingerprint(vectors, ENTITIES)).toEqual(written);
  });

  itInFull(
    'returns without entities that cannot be moved, and says how many are missing',
    async () => {
      const migration = await cutOverWithEntities();
      await addMemory(migration, migration.target, 'I met Maria Sibylla in Suriname');
      const { vectors, setting } = migration.services;
      const upsert: typeof vectors.upsert = async (name, ...rest) => {
        if (name !== ENTITIES) await vectors.upsert(name, ...rest);
      };
      await migration.finish('rollback', {}, { vectors: { upsert } });
      expect([await readPhase(migration), await setting.read()]).toEqual(['copied', SOURCE]);
      expect(await computeFingerprint(vectors, SOURCE)).toEqual(
        await computeFingerprint(vectors, migration.target),
      );
      const report = (await migration.runs.read(RUN)).evidence['rollback-report']?.facts;
      expect(report?.entitiesLacking).toBeGreaterThan(0);
    },
  );

  itInFull(
    'configures the companion collection that a killed rollback had only created',
    async () => {
      const migration = await cutOverWithEntities();
      const { vectors } = migration.services;
      const companion = `${migration.target}_entities`;
      const listIndexedKeys = async (name: string) =>
        Object.keys((await vectors.readCollectionInfo(name))?.payload_schema ?? {}).toSorted();
      await vectors.createPayloadIndex(companion, { field_name: 'place', field_schema: 'keyword' });
      await vectors.deleteCollection(ENTITIES);
      const updateCollection: typeof vectors.updateCollection = async (name, update) => {
        if (name === ENTITIES) throw new Killed();
        return await vectors.updateCollection(name, update);
      };
      const killed = migration.finish('rollback', {}, { vectors: { updateCollection } });
      await expect(killed).rejects.toThrow();
      expect(await vectors.collectionExists(ENTITIES)).toBe(true);
      await migration.finish('rollback');
      expect(await listIndexedKeys(ENTITIES)).toEqual(await listIndexedKeys(companion));
      expect(await listIndexedKeys(ENTITIES)).toContain('place');
    },
  );
});

it('a new version without the graph endpoint goes live', async () => {
  const migration = await createMigrationAt('copied');
  const isGraphDeprecated = () =>
    Promise.reject(
      new Refusal('RefusedByService', '/graph/relationships answered 404.', { code: 404 }),
    );
  await migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
  expect(await readPhase(migration)).toBe('live');
});

/** Repeats the rollback while its failures are transient. */
async function repeatRollback(migration: Migration, services: ServiceChanges): Promise<unknown> {
  for (let minute = 0; minute < 21; minute += 1) {
    const failure = await migration.finish('rollback', {}, services).catch((error) => error);
    if (!(failure instanceof RetryableFailure)) return failure;
    migration.advanceClock(60_000);
  }
  throw new Error('Writes are still frozen after 21 minutes.');
}
