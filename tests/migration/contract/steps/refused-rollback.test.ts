// A rollback after a refusal: what was accepted or refused before it began does not apply to it, and it ends in time.
import { expect, it } from 'vitest';
import type { HookRequest } from '../../../../lib/migration/ports/hooks.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { changeServices, onRequest } from '../../support/changed-services.ts';
import { emptyCollection } from '../../support/collections.ts';
import { createServicesKilledBefore, Killed } from '../../support/killable-services.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

const MINUTE_MS = 60_000;
const MAX_MINUTES = 60;

it('deletions accepted for a window are not accepted for its rollback', async () => {
  const migration = await createMigrationAt('equal');
  const { vectors } = migration.services;
  const before = await vectors.count(SOURCE);
  const slowHooks = onRequest(migration, 'open-writes', () => 'under-way');
  await migration.invoke('cutover', { deletes: before }, slowHooks);
  await emptyCollection(migration, migration.target, before - 10);
  migration.advanceClock(31 * MINUTE_MS);
  await repeatUntilRolledBack(migration, () => keepWatch(migration.services));
  expect(await vectors.count(SOURCE)).toBe(before);
});

it('a rollback after a refused one is not recorded as refused', async () => {
  const migration = await createMigrationAt('live');
  await emptyCollection(migration, migration.target, 100);
  await expect(migration.finish('rollback')).rejects.toEqual(failureNamed('RefusedMassChange'));
  await migration.finish('rollback', { deletes: 100 });
  const { phase, refused } = await migration.runs.read(RUN);
  expect({ phase, refused }).toEqual({ phase: 'copied', refused: undefined });
});

it('a window that opens after a refused attempt rolls back because of its deadline', async () => {
  const migration = await createMigrationAt('copied');
  const { setting } = migration.services;
  await setting.change({ from: SOURCE, to: 'elsewhere' });
  await expect(migration.finish('cutover')).rejects.toBeInstanceOf(Refusal);
  await setting.change({ from: 'elsewhere', to: SOURCE });
  await migration.openWindow();
  expect((await migration.runs.read(RUN)).refused).toBeUndefined();
  migration.advanceClock(31 * MINUTE_MS);
  await keepWatch(migration.services, () => 0).catch(() => undefined);
  const { refused } = await migration.runs.read(RUN);
  expect(refused?.why).toMatch(/^The window closed/);
});

it('a webhook that repeats its refusal of a request gets a new request', async () => {
  const migration = await createMigrationAt('live');
  const refusedBy = new Map<string, boolean>();
  let isBroken = true;
  const changes = refuseOpening(migration, ({ occasion }) => {
    const isRefused = refusedBy.get(occasion) ?? isBroken;
    refusedBy.set(occasion, isRefused);
    return isRefused;
  });
  await repeatUntilKilled(migration, changes);
  migration.advanceClock(3 * MINUTE_MS);
  await expect(migration.finish('rollback', {}, changes)).rejects.toBeInstanceOf(Refusal);
  isBroken = false;
  await expect(migration.finish('rollback', {}, changes)).rejects.toBeInstanceOf(Refusal);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
});

it('a restore does not restart the time limit of a refusal', async () => {
  const migration = await createMigrationAt('equal');
  await migration.runUntilStage('prepared');
  await migration.invoke('rollback', {}, {}, () => 0);
  await migration.services.vectors.deleteCollection(SOURCE);
  const changes = refuseOpening(migration, () => true);
  expect(await repeatUntilKilled(migration, changes)).toBeLessThan(20);
});

it('a rollback without proof of the old version keeps the uploaded collection', async () => {
  const migration = await createMigrationAt('equal', {}, { uploadAs: 'uploaded' });
  const { vectors } = migration.services;
  await migration.runUntilStage('proved');
  const undoneDeployment = onRequest(migration, 'deploy-old', () => 'done');
  await repeatUntilRolledBack(migration, () =>
    migration.finish('rollback', { actor: 'machine' }, undoneDeployment),
  );
  const run = await migration.runs.read(RUN);
  expect(run.evidence['rollback-report']?.facts).toMatchObject({ oldVersion: 'unproved' });
  expect(await vectors.collectionExists('uploaded')).toBe(true);
  expect(run.served).toContainEqual(expect.objectContaining({ collection: 'uploaded' }));
  expect(run.takesNoWindow).toBeDefined();
});

function refuseOpening({ services }: Migration, isRefused: (request: HookRequest) => boolean) {
  const ask = async (request: HookRequest) => {
    if (request.action === 'open-writes' && isRefused(request)) {
      throw new Refusal('RefusedByService', 'Not now.');
    }
    return await services.hooks.ask(request);
  };
  return { hooks: { ask } };
}

/** Repeats the rollback every minute until its record says where it ends, then kills it. @returns the number of minutes */
async function repeatUntilKilled(
  migration: Migration,
  changes: ReturnType<typeof refuseOpening>,
): Promise<number> {
  const { runs } = migration.services;
  let isDead = false;
  const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
    await runs.saveCheckpoint(lease, step, checkpoint);
    isDead ||= JSON.stringify(checkpoint.state).includes('"#end"');
  };
  const changedServices = changeServices(migration.services, {
    ...changes,
    runs: { saveCheckpoint },
  });
  const killedServices = createServicesKilledBefore(changedServices, () => isDead);
  for (let minutes = 0; minutes < MAX_MINUTES; minutes += 1) {
    const outcome = await migration
      .finish('rollback', {}, killedServices)
      .catch((error: unknown) => error);
    if (outcome instanceof Killed) return minutes;
    migration.advanceClock(MINUTE_MS);
  }
  throw new Error('The rollback has not decided where it ends');
}

async function repeatUntilRolledBack(
  migration: Migration,
  attempt: () => Promise<unknown>,
): Promise<void> {
  for (let minutes = 0; minutes < MAX_MINUTES; minutes += 1) {
    await attempt().catch(() => undefined);
    await migration.qdrant.waitUntilIdle();
    if ((await migration.runs.read(RUN)).phase === 'copied') return;
    migration.advanceClock(MINUTE_MS);
  }
  throw new Error('The run was not rolled back');
}
