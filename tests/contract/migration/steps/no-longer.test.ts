// What may not happen any more: a rollback after its days, and a change by a step that has lost its lock to another one.
import { expect, it } from 'vitest';
import { SOURCE } from '../../../../sandbox/world.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { LEASE_MS } from '../../../support/migration/run-table.ts';

const DAYS_MS = 30 * 86_400_000;

it('a rollback is refused from the day on which its period ends', async () => {
  const migration = await migrationAt('live');
  const { pass, target, services } = migration;
  const forecast = { execute: false };
  pass(DAYS_MS - 1);
  expect(await migration.invoke('retention')).toMatchObject({ done: false, phase: 'live' });
  expect(await migration.invoke('rollback', forecast)).toMatchObject({ dryRun: true });
  pass(1);
  for (const input of [forecast, {}]) {
    const refused = migration.invoke('rollback', input);
    await expect(refused).rejects.toEqual(named('RefusedNotNow', 'rollback period ended'));
  }
  expect(await services.setting.read()).toBe(target);
});

it('a rollback is refused once backups may be gone, also by a clock that is behind', async () => {
  const migration = await migrationAt('live', {}, { removesArtifactsWhenOver: true });
  migration.pass(DAYS_MS);
  const deleteAll = () => Promise.reject(new Error('Killed'));
  const killed = migration.invoke('retention', {}, { artifacts: { deleteAll } });
  await expect(killed).rejects.toThrow('Killed');
  migration.pass(-1);
  const refused = migration.invoke('rollback');
  await expect(refused).rejects.toEqual(named('RefusedNotNow', 'rollback period ended'));
});

/** Another invocation takes the lock in the middle of the step. */
async function takeOver({ pass, lock }: Migration): Promise<void> {
  pass(LEASE_MS);
  await lock.take(RUN);
}

it('a cutover that has lost its lock changes no setting', async () => {
  const migration = await migrationAt('equal');
  const { setting, vectors } = migration.services;
  const count: typeof vectors.count = async (...args) => {
    const counted = await vectors.count(...args);
    if (args[0] === migration.target && args[1]) await takeOver(migration);
    return counted;
  };
  const lost = migration.finish('cutover', {}, { vectors: { count } });
  await expect(lost).rejects.toEqual(named('RefusedLockLost'));
  expect(await setting.read()).toBe(SOURCE);
});

it('a cutover that has lost its lock lets nobody in', async () => {
  const migration = await migrationAt('equal');
  const { setting } = migration.services;
  let changes = 0;
  const change: typeof setting.change = async (names) => {
    await setting.change(names);
    changes += 1;
    if (changes === 2) await takeOver(migration);
  };
  const lost = migration.finish('cutover', {}, { setting: { change } });
  await expect(lost).rejects.toEqual(named('RefusedLockLost'));
  expect(changes).toBe(2);
  expect(migration.operator.heard).not.toContain('open-writes');
});

it('a rollback that has lost its lock changes no setting', async () => {
  const migration = await migrationAt('live');
  const { services, runs } = migration;
  const { setting, vectors } = services;
  const count: typeof vectors.count = async (...args) => {
    const counted = await vectors.count(...args);
    const { state } = (await runs.readCheckpoint(RUN, 'rollback')) ?? {};
    const isEqual = JSON.stringify(state ?? {}).includes('"equal"');
    if (isEqual && args[0] === SOURCE) await takeOver(migration);
    return counted;
  };
  const lost = migration.finish('rollback', {}, { vectors: { count } });
  await expect(lost).rejects.toEqual(named('RefusedLockLost'));
  expect(await setting.read()).toBe(migration.target);
});
