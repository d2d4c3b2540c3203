// A migration in place: the new version works on the old collection itself, and no data moves in either direction.
import { describe, expect, it } from 'vitest';
import { restoreTestCollectionOf } from '../../../../lib/migration/runs/run-names.ts';
import { runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { scanCollection } from '../../../../lib/migration/steps/recorded-counts.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull } from '../../../shared/support/quick-cases.ts';
import { onRequest } from '../../support/changed-services.ts';
import {
  computeFingerprint,
  deleteFirstPoint,
  LAYOUT,
  readEvidence,
  readFirstPoint,
  startSecondOldVersion,
  writeToOld,
} from '../../support/collections.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt, type Milestone } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { createPoint } from '../../support/vector-stores.ts';

const DAY_MS = 86_400_000;
const VECTOR = '[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]';
const createInPlaceAt = (milestone: Milestone) =>
  createMigrationAt(milestone, { isInPlace: true }, { inPlace: true });

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

async function readSlots({ services: { vectors } }: Migration) {
  const info = await vectors.readCollectionInfo(SOURCE);
  return Object.keys(info?.config.params.sparse_vectors ?? {});
}

async function countWithoutSlot({ services: { vectors } }: Migration): Promise<number> {
  return await vectors.count(SOURCE, { must_not: [{ has_vector: 'bm25' }] });
}

describe('a migration in place', () => {
  it('ends with the new version on the same memories, each with its keywords', async () => {
    const migration = await createInPlaceAt('copied');
    const { services, operator } = migration;
    await deleteFirstPoint(migration, SOURCE);
    await writeToOld(migration, 'Ada has bought a boat');
    const before = await computeFingerprint(services.vectors, SOURCE);
    expect(await countWithoutSlot(migration)).toBe(1);
    await migration.follow('cutover');

    expect(await readPhase(migration)).toBe('live');
    expect(await services.setting.read()).toBe(SOURCE);
    expect(await computeFingerprint(services.vectors, SOURCE)).toEqual(before);
    expect(await countWithoutSlot(migration)).toBe(0);
    expect(operator.actions.filter((action) => action !== 'freeze')).toEqual([
      'deploy-new',
      'open-writes',
    ]);
    const collections = await services.vectors.listCollections();
    expect(collections.toSorted()).toEqual([SOURCE, `${SOURCE}_entities`]);
    const { facts } = await readEvidence(migration, 'verification-report');
    expect(facts).toMatchObject({ filled: 1, pending: 0 });
    const { contents } = await scanCollection(services, await migration.runs.read(RUN), SOURCE);
    const { users, usersDigest } = contents;
    expect(facts).toMatchObject({ users, usersDigest });
  });

  itInFull('counts the memories of agents and sessions exactly', async () => {
    const migration = await createInPlaceAt('checked');
    const { vectors } = migration.services;
    const owners = ['"agent_id":"planner"', '"run_id":"r1"', '"agent_id":"planner","run_id":"r1"'];
    const memories = owners.map((owner, n) =>
      createPoint(9_000 + n, `{${owner},"data":"Oboe"}`, VECTOR),
    );
    await vectors.upsert(SOURCE, memories, 'upsert');
    await migration.follow('backup', 'rebuild', 'copy', 'cutover');
    const { facts } = await readEvidence(migration, 'verification-report');
    const run = await migration.runs.read(RUN);
    const { contents } = await scanCollection(migration.services, run, SOURCE);
    const { points, users, usersDigest } = contents;
    expect(facts).toMatchObject({ points, users, usersDigest });
    expect(users).toBe(9);
  });

  it('is rolled back and repeated any number of times without moving data', async () => {
    const migration = await createInPlaceAt('live');
    const { services } = migration;
    for (const n of [1, 2, 3]) {
      await (await startSecondOldVersion(migration)).add('user-1', `Written while live, ${n}`);
      const before = await computeFingerprint(services.vectors, SOURCE);
      await migration.finish('rollback');
      expect(await readStatus(services)).toMatchObject({ phase: 'copied', next: 'copy' });
      expect(await computeFingerprint(services.vectors, SOURCE)).toEqual(before);
      await writeToOld(migration, `Written after rollback ${n}`);
      await migration.follow('copy', 'cutover');
      expect(await readPhase(migration)).toBe('live');
      expect(await countWithoutSlot(migration)).toBe(0);
    }
    expect(await services.setting.read()).toBe(SOURCE);
  });

  it('is rolled back to the snapshot, and later writes stay in the old collection', async () => {
    const migration = await createInPlaceAt('copied');
    const { services } = migration;
    const returnsTo = `${SOURCE}_restored_${RUN}`;
    const backedUp = await computeFingerprint(services.vectors, SOURCE);
    await writeToOld(migration, 'Written after the backup');
    await migration.follow('cutover');
    await (await startSecondOldVersion(migration)).add('user-1', 'Written while live');
    const written = await computeFingerprint(services.vectors, SOURCE);
    const input = { toSnapshot: true };
    const dryRun = await migration.invoke('rollback', { ...input, execute: false });
    const leavesBehind = 'counted against the restored snapshot, before writes are frozen';
    expect(dryRun).toMatchObject({ forecast: { returnsTo, leavesBehind } });
    const attempt = migration.finish('rollback', { ...input, acknowledgedLoss: 1 });
    await expect(attempt).rejects.toEqual(
      failureNamed('RefusedLossNotAcknowledged', /loses 2 writes/),
    );
    expect(await readPhase(migration)).toBe('live');
    await migration.finish('rollback', { ...input, acknowledgedLoss: 2 });
    expect(await services.setting.read()).toBe(returnsTo);
    expect(await computeFingerprint(services.vectors, returnsTo)).toEqual(backedUp);
    expect(await computeFingerprint(services.vectors, SOURCE)).toEqual(written);
    const status = await readStatus(services);
    expect(status).toMatchObject({ phase: 'copied', takesNoWindow: `users are on ${returnsTo}` });
    await migration.finish('abort');
    const collections = await services.vectors.listCollections();
    expect(collections).toEqual(expect.arrayContaining([SOURCE, returnsTo]));
  });

  itInFull(
    'opens writes again if the rollback would lose more writes than were acknowledged',
    async () => {
      const migration = await createInPlaceAt('live');
      const writing = onRequest(
        migration,
        'freeze',
        async () =>
          void (await (await startSecondOldVersion(migration)).add('user-1', 'At the last moment')),
      );
      const attempt = migration.finish('rollback', { toSnapshot: true }, writing);
      await expect(attempt).rejects.toEqual(failureNamed('RefusedLossNotAcknowledged'));
      expect(await readPhase(migration)).toBe('live');
      expect(migration.operator.actions.at(-1)).toBe('open-writes');
    },
  );

  it('gives a memory the keywords of its new text if only the text was changed', async () => {
    const migration = await createInPlaceAt('copied');
    const { id } = await readFirstPoint(migration, SOURCE);
    await fetch(`${migration.qdrant.url}/collections/${SOURCE}/points/payload?wait=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"payload":{"data":"An oboe"},"points":[${id}]}`,
    });
    await migration.follow('cutover');
    const { facts } = await readEvidence(migration, 'verification-report');
    expect(facts).toMatchObject({ filled: 1, pending: 0 });
  });

  it('keeps the keyword slot when it ends, and removes the fingerprints of the texts', async () => {
    const migration = await createInPlaceAt('live');
    migration.advanceClock(31 * DAY_MS);
    await migration.finish('retention');
    expect(await readPhase(migration)).toBe('closed');
    expect(await readSlots(migration)).toEqual(['bm25']);
    expect(await countWithoutSlot(migration)).toBe(0);
  });
});

describe('an abort in place', () => {
  it('restores the collection', async () => {
    const migration = await createInPlaceAt('copied');
    await migration.finish('abort');
    expect(await readSlots(migration)).toEqual([]);
    expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
  });

  itInFull('removes what the new version created in a window that was rolled back', async () => {
    const migration = await createInPlaceAt('equal');
    const isGraphDeprecated = async () => false;
    const attempt = migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion'));
    await migration.finish('rollback', { actor: 'machine' });
    await migration.finish('abort');
    expect(await readSlots(migration)).toEqual([]);
    expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
  });

  it('keeps the slot and the companion if users have worked with them', async () => {
    const migration = await createInPlaceAt('live');
    await migration.finish('rollback');
    await migration.finish('abort');
    expect(await readSlots(migration)).toEqual(['bm25']);
    const collections = await migration.services.vectors.listCollections();
    expect(collections.toSorted()).toEqual([SOURCE, `${SOURCE}_entities`]);
    migration.advanceClock(31 * DAY_MS);
    await keepWatch(migration.services);
    expect((await readStatus(migration.services)).kept).toEqual([]);
    const afterWatch = await migration.services.vectors.listCollections();
    expect(afterWatch.toSorted()).toEqual(collections.toSorted());
  });
});

describe('the prerequisites', () => {
  const findInPlace = async (migration: Migration, options: object) => {
    const payload = { runId: RUN, sourceCollection: SOURCE, freeBytes: 1e9, ...options };
    const { prerequisites } = await runPreflight(migration.services, payload);
    return prerequisites.find(({ name }) => name === 'In place');
  };

  it('report that a migration in place is possible, and how much space it saves', async () => {
    const check = await findInPlace(await createMigration(), {});
    expect(check?.detail).toMatch(/^possible with --in-place, which saves about /);
    expect(check?.problems).toEqual([]);
  });

  it.each([
    ['on an older server', { qdrant: { version: '1.17.1' } }, 'It needs Qdrant 1.18 or later'],
    ['without a preview of the new version', { hasPreview: false }, 'MEMORY_PREVIEW_URL'],
  ])('refuse a migration in place %s, and name the alternative', async (_, options, why) => {
    const migration = await createMigration(options);
    const check = await findInPlace(migration, { inPlace: true });
    expect(check?.problems).toEqual([
      { why: expect.stringContaining(why), remedy: expect.stringMatching(/without --in-place/) },
    ]);
    expect((await findInPlace(migration, {}))?.problems).toEqual([]);
  });

  it('probe the slot on a separate collection, and remove it', async () => {
    const migration = await createMigration({ isInPlace: true });
    migration.qdrant.fault({
      on: /PUT .*\/vectors\/bm25/,
      effect: { kind: 'response', status: 400 },
    });
    await expect(migration.start({ inPlace: true })).rejects.toEqual(
      failureNamed('RefusedPrerequisites'),
    );
    expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
    const { vectors } = migration.services;
    await migration.start({ inPlace: true });
    // The collection of a restore test exists, as during a backup.
    const restoreTest = restoreTestCollectionOf({ runId: RUN });
    await vectors.createCollection(restoreTest, LAYOUT);
    await migration.start({ inPlace: true });
    expect((await vectors.listCollections()).toSorted()).toEqual([SOURCE, restoreTest]);
  });

  it('refuse a target name, because no collection is built', async () => {
    const attempt = findInPlace(await createMigration(), {
      inPlace: true,
      uploadAs: 'memories_v4',
    });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedSetting'));
  });
});
