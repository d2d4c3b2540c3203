// Commands that an operator enters late, interrupts, or enters after another client changed the setting
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { advance } from '../../../../lib/migration/runs/advance.ts';
import { LEASE_MS } from '../../../../lib/migration/runs/run-store.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { changeServices } from '../../support/changed-services.ts';
import { RUN, STEPS } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

const RETENTION_MS = 30 * 86_400_000;

it('a step refuses to accept a finding that it does not check', async () => {
  const migration = await createMigrationAt('checked');
  const backup = migration.invoke('backup', { accepts: ['no-graph'] });
  await expect(backup).rejects.toEqual(failureNamed('RefusedSetting', 'Only copy'));
});

describe('the status of a run', () => {
  it('shows that a step is running, since when, and how long its lease lasts', async () => {
    const migration = await createMigrationAt('checked');
    expect((await readStatus(migration.services)).lock).toBeNull();
    const since = migration.clock();
    await migration.lock.take(RUN);
    const until = new Date(since.getTime() + LEASE_MS);
    expect((await readStatus(migration.services)).lock).toEqual({
      since: since.toISOString(),
      until: until.toISOString(),
    });
  });
});

describe('an interrupted step', () => {
  it('makes no further change, releases its lock, and continues when it is repeated', async () => {
    const migration = await createMigrationAt('rebuilt');
    const { vectors } = migration.services;
    const controller = new AbortController();
    let pages = 0;
    const scroll: typeof vectors.scroll = (...args) => {
      pages += 1;
      if (pages === 1) controller.abort(new Error('Ctrl-C'));
      return vectors.scroll(...args);
    };
    const interrupting = changeServices(migration.services, { vectors: { scroll } });
    const copying = advance(STEPS.copy, interrupting, {
      runId: RUN,
      intent: {},
      timeLeftMs: () => 600_000,
      interruption: controller.signal,
    });
    await expect(copying).rejects.toThrow('Ctrl-C');
    expect(await vectors.count(migration.target)).toBe(0);
    // No time has passed, so a lease that was still held would refuse this step.
    await migration.finish('copy');
    expect(await vectors.count(migration.target)).toBe(await vectors.count(SOURCE));
  });
});

describe('a collection setting that another client changed', () => {
  it('is replaced by a rollback while writes are frozen', async () => {
    const migration = await createMigrationAt('equal');
    const { setting } = migration.services;
    const health = () => Promise.reject(new RetryableFailure('RetryableUnavailable', 'down'));
    const attempt = migration.finish('cutover', {}, { backend: { health } });
    await expect(attempt).rejects.toThrow('down');
    await setting.change({ from: migration.target, to: 'elsewhere' });
    await migration.finish('rollback');
    expect([(await migration.runs.read(RUN)).phase, await setting.read()]).toEqual([
      'copied',
      SOURCE,
    ]);
  });

  it('stops a rollback before anything is frozen', async () => {
    const migration = await createMigrationAt('live');
    const { setting } = migration.services;
    await setting.change({ from: migration.target, to: 'elsewhere' });
    const earlierActionCount = migration.operator.actions.length;
    const attempt = migration.finish('rollback');
    await expect(attempt).rejects.toEqual(
      failureNamed('RefusedSettingChanged', `instead of "${migration.target}"`),
    );
    expect(migration.operator.actions).toHaveLength(earlierActionCount);
    expect(await setting.read()).toBe('elsewhere');
    await setting.change({ from: 'elsewhere', to: migration.target });
    await migration.finish('rollback');
    expect(await setting.read()).toBe(SOURCE);
  });
});

it('a rollback is refused once the rollback period has ended', async () => {
  const migration = await createMigrationAt('live');
  const { advanceClock, target, services } = migration;
  const dryRun = { execute: false };
  advanceClock(RETENTION_MS - 1);
  expect(await migration.invoke('retention')).toMatchObject({ done: false, phase: 'live' });
  expect(await migration.invoke('rollback', dryRun)).toMatchObject({ dryRun: true });
  advanceClock(1);
  for (const input of [dryRun, {}]) {
    const attempt = migration.invoke('rollback', input);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotNow', 'rollback period ended'));
  }
  expect(await services.setting.read()).toBe(target);
});

it('a rollback is refused once backups may have been deleted, even if the clock is set back', async () => {
  const migration = await createMigrationAt('live', {}, { removesArtifactsWhenOver: true });
  migration.advanceClock(RETENTION_MS);
  const deleteAll = () => Promise.reject(new Error('Killed'));
  const killed = migration.invoke('retention', {}, { artifacts: { deleteAll } });
  await expect(killed).rejects.toThrow('Killed');
  migration.advanceClock(-1);
  const attempt = migration.invoke('rollback');
  await expect(attempt).rejects.toEqual(failureNamed('RefusedNotNow', 'rollback period ended'));
});
