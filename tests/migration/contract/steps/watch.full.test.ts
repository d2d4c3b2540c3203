// The watch works without a command: it rolls back a window that has closed, and counts the days of the rollback period.
import { describe, expect, it } from 'vitest';
import { createHandler as createRetentionHandler } from '../../../../functions/migration/retention.ts';
import { createHandler as createStatusHandler } from '../../../../functions/migration/status.ts';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { windowOf } from '../../../../lib/migration/runs/run.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { changeServices } from '../../support/changed-services.ts';
import { emptyCollection } from '../../support/collections.ts';
import { createKillableServices } from '../../support/killable-services.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { LEASE_MS, REPORT } from '../../support/run-table.ts';
import { watchUntilDone } from '../../support/watching.ts';

const DAY_MS = 86_400_000;
const CONTEXT = { getRemainingTimeInMillis: () => 600_000 };

/** Lists the names of the run's artifacts and of all collections. */
async function listKeptData({ services }: Migration): Promise<string[]> {
  const keys = Array.fromAsync(services.artifacts.list(`${RUN}/`), ({ key }) => key);
  return [...(await keys), ...(await services.vectors.listCollections())];
}

describe('the watch', () => {
  it('does nothing if no run exists, or no work is due', async () => {
    const migration = await createMigration();
    expect(await keepWatch(migration.services)).toBeUndefined();
    await migration.runUntilEqual();
    expect(await keepWatch(migration.services)).toBeUndefined();
    await migration.finish('cutover');
    migration.advanceClock(22 * DAY_MS);
    expect(await keepWatch(migration.services)).toBeUndefined();
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('removes the data of an aborted run once its retention has ended', async () => {
    const migration = await createMigrationAt('copied');
    const { services } = migration;
    const listKept = () => Array.fromAsync(services.artifacts.list(`${RUN}/`));
    await migration.finish('abort');
    const before = await listKept();
    expect(before.length).toBeGreaterThan(3);
    migration.advanceClock(30 * DAY_MS - 1);
    await keepWatch(services);
    expect(await listKept()).toEqual(before);
    migration.advanceClock(1);
    await keepWatch(services);
    expect(await listKept()).toEqual([]);
    const deleteAll = () => Promise.reject(new Error('Not twice'));
    await keepWatch({ ...services, artifacts: { ...services.artifacts, deleteAll } });
  });

  it('removes the data of a run that was aborted many runs ago, and tries again after a failure', async () => {
    const migration = await createMigrationAt('copied');
    const { services, runs, lock } = migration;
    const { plan } = await runs.read(RUN);
    await migration.finish('abort');
    for (let n = 0; n < 25; n += 1) {
      const run = await runs.start(`other-${n}`, plan, REPORT);
      const lease = await lock.take(run.runId);
      await runs.finish(lease, { ...run, phase: 'aborted' }, 'abort');
    }
    migration.advanceClock(30 * DAY_MS);
    const deleteAll = () => Promise.reject(new RetryableFailure('RetryableUnavailable', 'No.'));
    const failingServices = { ...services, artifacts: { ...services.artifacts, deleteAll } };
    await expect(keepWatch(failingServices)).rejects.toEqual(failureNamed('RetryableUnavailable'));
    await keepWatch(services);
    expect(await Array.fromAsync(services.artifacts.list(`${RUN}/`))).toEqual([]);
    expect(await lock.retainedRuns()).toEqual([]);
  });

  it.each([
    ['emptied', 'after a rollback', ['rollback', 'abort']],
    ['deleted', 'after a rollback', ['rollback', 'abort']],
    ['emptied', 'before a window', ['abort']],
  ] as const)(
    'removes nothing of an aborted run while the active collection is %s, %s, until the operator says that users did it',
    async (damage, when, steps) => {
      const migration = await createMigrationAt(when === 'before a window' ? 'backed-up' : 'live');
      const { services, logged } = migration;
      await migration.follow(...steps);
      if (damage === 'emptied') await emptyCollection(migration, SOURCE);
      else await services.vectors.deleteCollection(SOURCE);
      const before = await listKeptData(migration);
      expect(before.length).toBeGreaterThan(3);
      migration.advanceClock(31 * DAY_MS);
      const refused = failureNamed(
        'RefusedEmptied',
        /lacks 60 of the 60 .*"deletes":60,"run":"run-a"/,
      );
      await expect(keepWatch(services)).rejects.toEqual(refused);
      expect(await keepWatch(services)).toBeUndefined();
      expect(logged.filter(({ level }) => level === 'ERROR')).toHaveLength(1);
      const invoke = createRetentionHandler(async () => services);
      const endRetention = (input: object) =>
        invoke({ runId: RUN, execute: true, ...input }, CONTEXT);
      await expect(endRetention({})).rejects.toEqual(refused);
      await expect(endRetention({ deletes: 59 })).rejects.toEqual(refused);
      await expect(endRetention({ acknowledgedLoss: 60 })).rejects.toEqual(
        failureNamed('RefusedSetting'),
      );
      expect(await listKeptData(migration)).toEqual(before);
      expect(await endRetention({ deletes: 60 })).toMatchObject({ phase: 'aborted', done: true });
      expect(await listKeptData(migration)).toEqual(damage === 'emptied' ? [SOURCE] : []);
      expect(await migration.lock.retainedRuns()).toEqual([]);
      expect(await endRetention({})).toMatchObject({ phase: 'aborted', done: true });
    },
  );

  it('removes the data of an aborted run once the emptied collection is repaired', async () => {
    const migration = await createMigrationAt('live');
    const { services, target } = migration;
    await migration.follow('rollback', 'abort');
    const { points } = await services.vectors.scroll(SOURCE, { limit: 999 });
    await emptyCollection(migration, SOURCE);
    migration.advanceClock(31 * DAY_MS);
    await expect(keepWatch(services)).rejects.toEqual(failureNamed('RefusedEmptied'));
    const restored = points.map(({ vector = asJsonText('[]'), ...point }) => ({
      ...point,
      vector,
    }));
    await services.vectors.upsert(SOURCE, restored, 'upsert');
    migration.advanceClock(DAY_MS);
    await keepWatch(services);
    expect(await services.vectors.listCollections()).not.toContain(target);
    expect(await Array.fromAsync(services.artifacts.list(`${RUN}/`))).toEqual([]);
  });

  it('continues to remove the data of an aborted run, wherever it was killed', async () => {
    async function createOverdueRun() {
      const migration = await createMigrationAt('live');
      await migration.follow('rollback', 'abort');
      migration.advanceClock(31 * DAY_MS);
      return migration;
    }
    const undisturbed = await createOverdueRun();
    const { services, killPoints } = createKillableServices(undisturbed.services);
    await keepWatch(services);
    expect(killPoints().length).toBeGreaterThan(4);
    for (const killPoint of killPoints()) {
      const migration = await createOverdueRun();
      await keepWatch(createKillableServices(migration.services, killPoint).services).catch(
        () => undefined,
      );
      migration.advanceClock(LEASE_MS);
      await keepWatch(migration.services);
      expect(await listKeptData(migration)).toEqual([SOURCE]);
      expect(await migration.lock.retainedRuns()).toEqual([]);
    }
  });

  it('rolls back an expired window even if the time of the last reminder cannot be read', async () => {
    const migration = await createMigrationAt('equal');
    migration.advanceClock(31 * 60_000);
    const remindedAt = async () => {
      throw new RetryableFailure('RetryableUnavailable', 'No response.');
    };
    await keepWatch(changeServices(migration.services, { runs: { remindedAt } }));
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
  });

  it('does not roll back a live run if there is nothing to do', async () => {
    const migration = await createMigrationAt('live');
    const { runs, lock, services } = migration;
    const lease = await lock.take(RUN);
    await runs.write(lease, { ...(await runs.read(RUN)), takesNoWindow: 'it is damaged' });
    await lock.release(lease, 'live');
    migration.advanceClock(31 * DAY_MS);
    expect(await keepWatch(services)).toBeUndefined();
    expect((await runs.read(RUN)).phase).toBe('live');
  });

  it.each(['switching', 'switching-back'])(
    'fails after it has waited 20 minutes for the lock of a run that is %s',
    async (phase) => {
      const migration = await createMigrationAt('equal');
      const { deadlineAt } = windowOf(await migration.runs.read(RUN));
      migration.advanceClock(deadlineAt - migration.clock().getTime());
      if (phase === 'switching-back') {
        // The rollback begins late, and the wait for its lock counts from then on.
        migration.advanceClock(60 * 60_000);
        const hooks = { ask: async () => 'under-way' as const };
        await migration.invoke('rollback', {}, { hooks });
      }
      expect((await migration.runs.read(RUN)).phase).toBe(phase);
      const lease = await migration.lock.take(RUN);
      migration.advanceClock(20 * 60_000 - 1);
      await migration.lock.renew(lease);
      expect(await keepWatch(migration.services)).toBeUndefined();
      migration.advanceClock(1);
      await expect(keepWatch(migration.services)).rejects.toEqual(
        failureNamed('RetryableLockHeld'),
      );
      expect(migration.logged.map(({ level }) => level)).toEqual(['WARN', 'ERROR']);
      await migration.lock.release(lease);
      await watchUntilDone(migration);
      expect((await migration.runs.read(RUN)).phase).toBe('copied');
    },
  );

  it('reminds of a live run once a day while another one is in progress, without a failure', async () => {
    const migration = await createMigrationAt('live');
    const { runs, services, lock, logged, operator, target } = migration;
    const { plan } = await runs.read(RUN);
    const names = { sourceCollection: target, targetCollection: 'memories_v3_run-b' };
    await runs.start('run-b', { ...plan, ...names }, REPORT);
    operator.actions.length = 0;
    migration.advanceClock(25 * DAY_MS);
    for (const isRunning of [false, true]) {
      if (isRunning) await lock.take('run-b');
      for (let n = 0; n < 2; n += 1) expect(await keepWatch(services)).toBeUndefined();
      migration.advanceClock(DAY_MS);
    }
    expect(operator.actions).toEqual(['warn-of-end', 'warn-of-end']);
    expect(logged).toMatchObject([{ daysLeft: 5 }, { daysLeft: 4 }]);
    migration.advanceClock(3 * DAY_MS);
    expect(await keepWatch(services)).toBeUndefined();
    expect(logged.at(-1)).toMatchObject({ level: 'WARN', failure: 'RefusedOtherRun' });
    expect(windowOf(await runs.read(RUN))).not.toHaveProperty('overAt');
    expect(await lock.activeRun()).toBe('run-b');
  });

  it('leaves expired data of an aborted run to a later watch while another run is in progress', async () => {
    const migration = await createMigrationAt('live');
    const { runs, services, lock, logged, target } = migration;
    await migration.follow('rollback', 'abort');
    const { plan } = await runs.read(RUN);
    await runs.start('run-b', { ...plan, targetCollection: 'memories_v3_run-b' }, REPORT);
    migration.advanceClock(31 * DAY_MS);
    expect(await keepWatch(services)).toBeUndefined();
    expect(logged.at(-1)).toMatchObject({ level: 'WARN', failure: 'RefusedOtherRun' });
    expect(await services.vectors.listCollections()).toContain(target);
    expect(await lock.activeRun()).toBe('run-b');
  });

  it('fails if the webhook does not answer', async () => {
    const migration = await createMigrationAt('equal');
    migration.advanceClock(30 * 60_000);
    const ask = async () => {
      throw new RetryableFailure('RetryableUnavailable', 'No answer.');
    };
    const watching = keepWatch({ ...migration.services, hooks: { ask } });
    await expect(watching).rejects.toEqual(failureNamed('RetryableUnavailable'));
  });
});

describe('the watch function', () => {
  it('does all due work if a timer invokes it, and the retention of one run if a person invokes it with a run id', async () => {
    const migration = await createMigrationAt('live');
    const invoke = createRetentionHandler(async () => migration.services);
    migration.advanceClock(30 * DAY_MS);
    const dryRun = { dryRun: true, forecast: { isOver: true } };
    expect(await invoke({ runId: RUN }, CONTEXT)).toMatchObject(dryRun);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    const timer = { 'detail-type': 'Scheduled Event', resources: [], time: '2026-03-01T09:00:00Z' };
    expect(await invoke(timer, CONTEXT)).toMatchObject({ phase: 'closed' });
  });
});

describe('the status function', () => {
  it('shows the phase of the run, its evidence, and who may give which command', async () => {
    const migration = await createMigration();
    const status = createStatusHandler(async () => migration.services);
    await expect(status({})).rejects.toEqual(failureNamed('RefusedUnknownRun'));
    await migration.start();
    await migration.follow('backup', 'rebuild', 'copy');
    const digest = (await migration.runs.read(RUN)).evidence['verification-report']?.digest;
    expect(await status({})).toMatchObject({
      runId: RUN,
      phase: 'copied',
      next: 'cutover',
      testUser: '__migration_test_run-a',
      approval: { evidence: 'verification-report', digest },
      pendingAction: null,
      moves: [
        { command: 'copy', to: 'copied' },
        { command: 'cutover', to: 'live' },
        { command: 'abort', to: 'aborted', by: ['operator'] },
      ],
    });
  });

  it('shows the progress of a copy', async () => {
    const migration = await createMigrationAt('rebuilt');
    const lease = await migration.lock.take(RUN);
    const progress = { done: 20, total: 60 };
    await migration.runs.saveCheckpoint(lease, 'copy', { state: {}, progress });
    const status = createStatusHandler(async () => migration.services);
    expect(await status(undefined)).toMatchObject({
      next: 'copy',
      progress: { step: 'copy', ...progress },
    });
  });
});
