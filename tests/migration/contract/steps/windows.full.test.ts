// Several windows of one run. After a failure or a rollback, only changes are copied again before the next window. Nothing that
// users worked on is removed or lost, however often they change sides.
import { describe, expect, it } from 'vitest';
import { asJsonText, toJsonText } from '../../../../lib/migration/json/json-text.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import {
  changeAsUser,
  computeFingerprint,
  deleteFirstPoint,
  emptyCollection,
  readEvidence,
  writeToNew,
  writeToOld,
} from '../../support/collections.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

const DAY_MS = 86_400_000;

const TO_SNAPSHOT = { toSnapshot: true, acknowledgedLoss: 99 };

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

async function expectEqual({ services: { vectors }, target }: Migration): Promise<void> {
  expect(await computeFingerprint(vectors, target)).toEqual(
    await computeFingerprint(vectors, SOURCE),
  );
}

/** Makes the new version fail its proof, so that writes are not opened on it. */
async function failCutover(migration: Migration): Promise<void> {
  const isGraphDeprecated = async () => false;
  const attempt = migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
  await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion'));
}

async function changeAll({ services: { vectors }, target }: Migration): Promise<void> {
  const { points } = await vectors.scroll(target, { limit: 999 });
  const changed = points.map(({ id, vector, payload }) => {
    const damaged: Record<string, unknown> = { ...JSON.parse(payload), data: 'Overwritten' };
    return { id, vector: vector ?? asJsonText('[]'), payload: toJsonText(damaged) };
  });
  await vectors.upsert(target, changed, 'upsert');
}

describe('a refused window', () => {
  it('can be repeated at once, after a copy of only what changed', async () => {
    const migration = await createMigrationAt('equal');
    await failCutover(migration);
    await migration.finish('rollback', { actor: 'machine' });
    await writeToOld(migration, 'Written in between');
    expect(await readStatus(migration.services)).toMatchObject({ phase: 'copied', next: 'copy' });
    await expect(migration.invoke('cutover')).rejects.toEqual(failureNamed('RefusedNotNow'));
    await migration.finish('copy');
    const { facts } = await readEvidence(migration, 'verification-report');
    expect(facts).toMatchObject({ inserted: 1, replaced: 0, deleted: 0, pending: 0 });
    expect(await readStatus(migration.services)).toMatchObject({ next: 'cutover' });
    await migration.follow('cutover');
    expect(await readPhase(migration)).toBe('live');
    await expectEqual(migration);
  });

  it('is followed by one with its own deadline, which asks the webhook for each action again', async () => {
    const migration = await createMigrationAt('equal');
    const { hooks } = migration.services;
    migration.advanceClock(31 * 60_000);
    await keepWatch(migration.services);
    expect(await readPhase(migration)).toBe('copied');
    await migration.finish('copy');
    const occasions: string[] = [];
    const ask: typeof hooks.ask = async (request) => {
      occasions.push(request.occasion ?? '');
      return await hooks.ask(request);
    };
    await migration.finish('cutover', {}, { hooks: { ask } });
    expect(await readPhase(migration)).toBe('live');
    const requested = migration.operator.requests.map(({ occasion }) => occasion);
    const earlier = requested.slice(0, -occasions.length);
    expect(occasions.filter((occasion) => earlier.includes(occasion))).toEqual([]);
  });
});

describe('a run after its rollback', () => {
  it('switches forward and back any number of times, and loses nothing', async () => {
    const migration = await createMigrationAt('live');
    const { vectors } = migration.services;
    for (let n = 0; n < 3; n += 1) {
      await deleteFirstPoint(migration, migration.target);
      await changeAsUser(migration, migration.target, `Changed on the new version ${n}`);
      await writeToNew(migration, `New ${n}`);
      const written = await computeFingerprint(vectors, migration.target);
      await migration.finish('rollback');
      expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
      await deleteFirstPoint(migration, SOURCE);
      await changeAsUser(migration, SOURCE, `Changed on the old version ${n}`);
      await writeToOld(migration, `Old ${n}`);
      const writtenToOld = await computeFingerprint(vectors, SOURCE);
      await migration.follow('copy', 'cutover');
      expect(await computeFingerprint(vectors, migration.target)).toEqual(writtenToOld);
    }
    expect(await readPhase(migration)).toBe('live');
  });

  it('is not copied from an old collection that was emptied', async () => {
    const migration = await createMigrationAt('live');
    await migration.finish('rollback');
    const { vectors } = migration.services;
    const before = await computeFingerprint(vectors, migration.target);
    await emptyCollection(migration, SOURCE);
    const why = `remove 60 of 60 points of ${migration.target}`;
    await expect(migration.finish('copy')).rejects.toEqual(failureNamed('RefusedMassChange', why));
    expect(await computeFingerprint(vectors, migration.target)).toEqual(before);
    await migration.finish('copy', { deletes: 60 });
    await expectEqual(migration);
  });

  it('is copied once the emptied old collection is restored', async () => {
    const migration = await createMigrationAt('live');
    await migration.finish('rollback');
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(SOURCE, { limit: 999 });
    await emptyCollection(migration, SOURCE);
    const refused = failureNamed('RefusedMassChange', 'remove 60 of 60');
    await expect(migration.finish('copy')).rejects.toEqual(refused);
    const restored = points.flatMap(({ vector, ...rest }) => (vector ? [{ ...rest, vector }] : []));
    await vectors.upsert(SOURCE, restored, 'upsert');
    await migration.finish('copy');
    await expectEqual(migration);
  });

  it('applies as many deletions in its next window as the operator allows', async () => {
    const migration = await createMigrationAt('live');
    await migration.follow('rollback', 'copy');
    await emptyCollection(migration, SOURCE, 30);
    await migration.finish('cutover', { deletes: 30 });
    expect(await readPhase(migration)).toBe('live');
    await expectEqual(migration);
  });

  it('continues without the operator with the number of deletions that its cutover began with', async () => {
    const migration = await createMigrationAt('live');
    await migration.follow('rollback', 'copy');
    await emptyCollection(migration, SOURCE, 30);
    await migration.invoke('cutover', { deletes: 30 }, {}, () => 0);
    expect(await readPhase(migration)).toBe('switching');
    await migration.finish('cutover', { actor: 'machine' });
    expect(await readPhase(migration)).toBe('live');
    await expectEqual(migration);
  });

  it('continues with the number of deletions that was given while its cutover was under way', async () => {
    const migration = await createMigrationAt('live');
    await migration.follow('rollback', 'copy');
    await emptyCollection(migration, SOURCE, 30);
    await migration.invoke('cutover', {}, {}, () => 0);
    await migration.invoke('cutover', { deletes: 30 }, {}, () => 0);
    await migration.finish('cutover', { actor: 'machine' });
    expect(await readPhase(migration)).toBe('live');
    await expectEqual(migration);
  });

  it('needs the number of deletions again once a window has ended', async () => {
    const migration = await createMigrationAt('live');
    await migration.follow('rollback', 'copy');
    await migration.invoke('cutover', { deletes: 30 }, {}, () => 0);
    await migration.finish('rollback');
    await emptyCollection(migration, SOURCE, 30);
    const refused = failureNamed('RefusedMassChange', 'remove 30 of 60');
    await expect(migration.finish('copy', { actor: 'machine' })).rejects.toEqual(refused);
    await expect(migration.finish('copy')).rejects.toEqual(refused);
  });

  it.each(['live', 'equal'] as const)(
    'that was %s carries later writes on the new collection to the old one',
    async (milestone) => {
      const migration = await createMigrationAt(milestone);
      if (milestone === 'equal') await failCutover(migration);
      await migration.finish('rollback');
      await writeToOld(migration, 'By users, meanwhile');
      await writeToNew(migration, 'By an instance of the new version that still runs');
      await migration.follow('copy', 'cutover');
      const { vectors } = migration.services;
      expect(await computeFingerprint(vectors, SOURCE)).toMatchObject({ points: 62 });
      await expectEqual(migration);
    },
  );

  it.each([
    ['was emptied', (migration: Migration) => emptyCollection(migration)],
    ['was changed throughout', changeAll],
  ] as const)(
    'carries nothing back from a new collection that %s after a failed window',
    async (_, damage) => {
      const migration = await createMigrationAt('equal');
      const { vectors } = migration.services;
      await failCutover(migration);
      await migration.finish('rollback');
      const before = await computeFingerprint(vectors, SOURCE);
      await damage(migration);
      await migration.finish('copy');
      expect(await computeFingerprint(vectors, SOURCE)).toEqual(before);
      const { facts } = await readEvidence(migration, 'verification-report');
      expect(facts).toMatchObject({ pending: 0, takenBack: 60, withheld: 60 });
    },
  );

  it.each([
    ['removes the collection that users left at the end of its retention', async () => {}, []],
    [
      'keeps and names the collection that users left if it was written to since',
      (migration: Migration) => writeToNew(migration, 'By a forgotten program'),
      ['memories_v3_run-a'],
    ],
  ] as const)('that is aborted %s', async (_, write, kept) => {
    const migration = await createMigrationAt('live');
    const { services } = migration;
    await migration.finish('rollback');
    const { served } = await readStatus(services);
    const leftCollections = [migration.target, `${migration.target}_entities`];
    expect(served.map(({ collection }) => collection)).toEqual(leftCollections);
    const dryRun = await migration.invoke('abort', { execute: false });
    expect(dryRun).toMatchObject({
      forecast: { removes: expect.not.arrayContaining(leftCollections) },
    });
    await migration.finish('abort');
    expect(await migration.lock.activeRun()).toBeUndefined();
    await keepWatch(services);
    expect(await services.vectors.listCollections()).toContain(migration.target);
    await write(migration);
    migration.advanceClock(31 * DAY_MS);
    for (let n = 0; n < 2; n += 1) await keepWatch(services);
    expect(await services.vectors.listCollections()).toEqual(
      expect.arrayContaining([SOURCE, ...kept]),
    );
    expect((await services.vectors.listCollections()).includes(migration.target)).toBe(
      kept.length > 0,
    );
    expect(await readStatus(services)).toMatchObject({ phase: 'aborted', served: [], kept });
    expect(await migration.lock.retainedRuns()).toEqual([]);
  });

  it('that is aborted after its retention removes what is no longer needed', async () => {
    const migration = await createMigrationAt('live');
    await migration.finish('rollback');
    migration.advanceClock(31 * DAY_MS);
    await migration.finish('abort');
    expect(await migration.services.vectors.listCollections()).toEqual([SOURCE]);
  });

  it('that removes nothing can be aborted even if the last common version cannot be read', async () => {
    const migration = await createMigrationAt('live');
    await migration.finish('rollback');
    const get = () => {
      throw new Refusal('RefusedMissingArtifact', 'Not readable.');
    };
    await migration.finish('abort', {}, { artifacts: { get } });
    expect(await readStatus(migration.services)).toMatchObject({ phase: 'aborted' });
  });

  it.each([
    ['after a failed window', 'equal', 0],
    ['after the retention of the collection that users left', 'live', 31],
  ] as const)(
    'keeps writes that only the new collection has when it is aborted %s',
    async (_, milestone, days) => {
      const migration = await createMigrationAt(milestone);
      if (milestone === 'equal') await failCutover(migration);
      await migration.finish('rollback');
      migration.advanceClock(days * DAY_MS);
      await writeToNew(migration, 'By an instance of the new version that still runs');
      await migration.finish('abort');
      const { services, target } = migration;
      expect(await services.vectors.listCollections()).toContain(target);
      expect(await readStatus(services)).toMatchObject({ phase: 'aborted', kept: [target] });
    },
  );

  it.each([
    ['emptied', 'before its window', 0],
    ['deleted', 'before its window', 0],
    ['emptied', 'after the retention of the collection that users left', 31],
    ['deleted', 'after the retention of the collection that users left', 31],
  ] as const)(
    'keeps the new collection if the old one is %s when it is aborted %s',
    async (damage, _, days) => {
      const migration = await createMigrationAt(days > 0 ? 'live' : 'copied');
      const { services, target } = migration;
      const { vectors } = services;
      if (days > 0) await migration.finish('rollback');
      migration.advanceClock(days * DAY_MS);
      if (damage === 'emptied') await emptyCollection(migration, SOURCE);
      else await vectors.deleteCollection(SOURCE);
      const memories = await computeFingerprint(vectors, target);
      const dryRun = await migration.invoke('abort', { execute: false });
      expect(dryRun).toMatchObject({ forecast: { keeps: [target] } });
      await migration.finish('abort');
      expect(await computeFingerprint(vectors, target)).toEqual(memories);
      expect(await readStatus(services)).toMatchObject({ phase: 'aborted', kept: [target] });
      migration.advanceClock(62 * DAY_MS);
      await keepWatch(services).catch(() => {});
      expect(await computeFingerprint(vectors, target)).toEqual(memories);
    },
  );
});

it('a second rollback does not depend on the first one', async () => {
  const migration = await createMigrationAt('live');
  const { vectors } = migration.services;
  await writeToOld(migration, 'Late write of the first window');
  await migration.finish('rollback');
  await migration.follow('copy', 'cutover');
  await writeToOld(migration, 'Late write of the second window');
  const written = await computeFingerprint(vectors, SOURCE);
  await migration.finish('rollback');
  expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
  const { facts } = await readEvidence(migration, 'rollback-report');
  expect(facts).toMatchObject({ lateWrites: 1, leftBehind: 0 });
});

it('a failed rollback to the snapshot loses nothing of the old collection', async () => {
  const migration = await createMigrationAt('live');
  const { vectors, hooks } = migration.services;
  await writeToOld(migration, 'By a forgotten program');
  const written = await computeFingerprint(vectors, SOURCE);
  const ask: typeof hooks.ask = async (request) => {
    if (request.action === 'freeze') await emptyCollection(migration, `${SOURCE}_restored_${RUN}`);
    return await hooks.ask(request);
  };
  const attempt = migration.finish('rollback', TO_SNAPSHOT, { hooks: { ask } });
  await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
  expect(await readPhase(migration)).toBe('live');
  await migration.finish('rollback');
  expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
});
