// The rollback period: operators are reminded in its last week, and after it the run removes what the plan says.
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { windowOf } from '../../../../lib/migration/runs/run.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import {
  deleteFirstPoint,
  deleteOldCollection,
  emptyCollection,
  writeToNew,
  writeToOld,
} from '../../support/collections.ts';
import { createKillableServices, Killed } from '../../support/killable-services.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { LEASE_MS, REPORT } from '../../support/run-table.ts';

const DAY_MS = 86_400_000;
const TWO_MINUTES_MS = 120_000;
/** Backups are the artifacts that a rollback would need. All others are reports. */
const isBackup = (key: string) => /^(snapshot|graph)-/.test(key);
/** The base is needed for comparisons, which end when the run is closed. */
const isBase = (key: string) => key.startsWith('base-');

/** Creates a run that has just gone live. */
async function createLiveRun(plan: Record<string, unknown> = {}): Promise<Migration> {
  const migration = await createMigrationAt('live', {}, plan);
  migration.operator.actions.length = 0;
  return migration;
}

async function listArtifacts({ services }: Migration): Promise<string[]> {
  return await Array.fromAsync(services.artifacts.list(`${RUN}/`), ({ key }) =>
    key.slice(RUN.length + 1),
  );
}

async function hasOldCollection({ services }: Migration): Promise<boolean> {
  return (await services.vectors.listCollections()).includes(SOURCE);
}

/** Runs the watch for this many days, as if every two minutes. */
async function watchFor(migration: Migration, days: number, services = migration.services) {
  for (let elapsed = 0; elapsed < days * DAY_MS; elapsed += TWO_MINUTES_MS * 90) {
    await keepWatch(services);
    // Two of the 90 watches in that time are enough to notice a second reminder.
    migration.advanceClock(TWO_MINUTES_MS);
    await keepWatch(services);
    migration.advanceClock(TWO_MINUTES_MS * 89);
  }
}

describe('the end of the rollback period', () => {
  it('does not come early, is announced in the last week, and makes a rollback impossible', async () => {
    const migration = await createMigrationAt('live');
    migration.advanceClock(22 * DAY_MS);
    const early = await readStatus(migration.services);
    expect(early.retention).toMatchObject({ daysLeft: 8, isEnding: false, isOver: false });
    migration.advanceClock(1 * DAY_MS);
    expect((await readStatus(migration.services)).retention).toMatchObject({ isEnding: true });
    migration.advanceClock(7 * DAY_MS - 1);
    expect(await migration.invoke('retention')).toMatchObject({ phase: 'live', done: false });
    migration.advanceClock(1);
    expect(await migration.invoke('retention')).toMatchObject({ phase: 'closed' });
    const attempt = migration.invoke('rollback');
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotNow', /ended at 20\d\d-/));
  });

  it('is announced once a day in its last week, in the log and to the webhook', async () => {
    const migration = await createLiveRun({ removesWhenOver: true });
    const { logged, operator } = migration;
    await watchFor(migration, 22);
    expect([logged, operator.actions]).toEqual([[], []]);
    await watchFor(migration, 8);
    expect(logged.map(({ daysLeft }) => daysLeft)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(logged[0]).toEqual({
      level: 'WARN',
      message: 'Rollback will soon be impossible: roll back before then, or not at all',
      runId: RUN,
      until: new Date((await migration.runs.read(RUN)).window?.retainUntil ?? 0).toISOString(),
      daysLeft: 7,
      removesOldCollection: true,
      removesBackups: false,
    });
    expect(operator.actions).toEqual(Array.from({ length: 7 }, () => 'warn-of-end'));
    const { retainUntil: deadlineAt } = windowOf(await migration.runs.read(RUN));
    expect(operator.requests.slice(-2)).toMatchObject([
      { occasion: 'days-left-2', deadlineAt },
      { occasion: 'days-left-1', deadlineAt },
    ]);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('is reached even if the webhook does not answer', async () => {
    const migration = await createLiveRun();
    const ask = () => Promise.reject(new RetryableFailure('RetryableUnavailable', 'No response.'));
    migration.advanceClock(29 * DAY_MS);
    await keepWatch({ ...migration.services, hooks: { ask } });
    await keepWatch({ ...migration.services, hooks: { ask } });
    expect(migration.logged).toEqual([
      expect.objectContaining({ level: 'WARN', daysLeft: 1 }),
      expect.objectContaining({
        level: 'WARN',
        failure: 'RetryableUnavailable',
        why: 'No response.',
      }),
    ]);
    migration.advanceClock(DAY_MS);
    expect(await keepWatch(migration.services)).toMatchObject({ phase: 'closed' });
  });
});

describe('the data kept for a rollback', () => {
  it.each([
    [{}, true, true],
    [{ removesWhenOver: true }, false, true],
    [{ removesArtifactsWhenOver: true }, true, false],
    [{ removesWhenOver: true, removesArtifactsWhenOver: true }, false, false],
    [{ removesWhenOver: true, removesArtifactsWhenOver: true, uploadAs: 'up' }, false, false],
  ])(
    'after a plan with %o: old collection kept %s, backups kept %s',
    async (plan, hasOld, hasBackups) => {
      const migration = await createLiveRun(plan);
      const artifacts = await listArtifacts(migration);
      for (const backup of [/^snapshot-.*-part-/m, /^graph-/m])
        expect(artifacts.join('\n')).toMatch(backup);
      migration.advanceClock(30 * DAY_MS - 1);
      expect(await migration.invoke('retention')).toMatchObject({ done: false, phase: 'live' });
      expect(await hasOldCollection(migration)).toBe(true);
      expect(await listArtifacts(migration)).toEqual(artifacts);
      migration.advanceClock(1);
      await migration.finish('retention');
      expect((await migration.runs.read(RUN)).phase).toBe('closed');
      expect(await hasOldCollection(migration)).toBe(hasOld);
      expect(await listArtifacts(migration)).toEqual(
        artifacts.filter((key) => !isBase(key) && (hasBackups || !isBackup(key))),
      );
    },
  );

  it('is kept while a backup is retained for longer, which is logged once a day', async () => {
    const migration = await createLiveRun({
      removesWhenOver: true,
      removesArtifactsWhenOver: true,
    });
    const { services, logged, clock, advanceClock } = migration;
    const artifacts = await listArtifacts(migration);
    const part = artifacts.findLast((key) => key.startsWith('snapshot-'));
    advanceClock(30 * DAY_MS);
    const until = new Date(clock().getTime() + 3 * DAY_MS);
    await services.artifacts.retain(`${RUN}/${part}`, until);
    const attempt = migration.invoke('retention');
    await expect(attempt).rejects.toEqual(
      failureNamed('RefusedNotNow', `${part} must be kept until ${until.toISOString()}`),
    );
    expect(await hasOldCollection(migration)).toBe(true);
    expect(await listArtifacts(migration)).toContain(part);
    advanceClock(DAY_MS);
    await expect(keepWatch(services)).rejects.toEqual(
      failureNamed('RefusedNotNow', 'must be kept until'),
    );
    advanceClock(TWO_MINUTES_MS);
    expect(await keepWatch(services)).toBeUndefined();
    expect(logged.filter(({ level }) => level === 'ERROR')).toEqual([
      expect.objectContaining({ runId: RUN, failure: 'RefusedNotNow' }),
    ]);
    advanceClock(2 * DAY_MS);
    expect(await keepWatch(services)).toMatchObject({ phase: 'closed' });
    expect((await listArtifacts(migration)).filter(isBackup)).toEqual([]);
    expect(await hasOldCollection(migration)).toBe(false);
  });

  it('is kept if the old collection changed since the switch, because those writes exist nowhere else', async () => {
    const migration = await createMigrationAt('live', {}, { removesWhenOver: true });
    const { services, logged } = migration;
    await writeToOld(migration, 'By a forgotten program');
    migration.advanceClock(30 * DAY_MS);
    await migration.finish('retention');
    expect(await hasOldCollection(migration)).toBe(true);
    const status = await readStatus(services, RUN);
    expect(status).toMatchObject({ phase: 'closed', kept: [SOURCE] });
    expect(logged.at(-1)).toMatchObject({ level: 'WARN', collection: SOURCE });
  });

  it.each([
    ['the backups', 'emptied', { removesArtifactsWhenOver: true }],
    ['the old collection', 'emptied', { removesWhenOver: true }],
    ['the backups, in place', 'emptied', { removesArtifactsWhenOver: true, inPlace: true }],
    ['the old collection', 'deleted', { removesWhenOver: true }],
  ] as const)('is kept (%s) while the active collection is %s', async (_, damage, plan) => {
    const isInPlace = 'inPlace' in plan;
    const migration = await createMigrationAt('live', { isInPlace }, plan);
    const { services } = migration;
    const active = await services.setting.read();
    const artifacts = await listArtifacts(migration);
    if (damage === 'emptied') await emptyCollection(migration, active);
    else await services.vectors.deleteCollection(active);
    migration.advanceClock(30 * DAY_MS);
    const refused = failureNamed('RefusedEmptied', /lacks 60 of the 60 memories .*"deletes":60/);
    await expect(keepWatch(services)).rejects.toEqual(refused);
    await expect(migration.finish('retention')).rejects.toEqual(refused);
    expect(await hasOldCollection(migration)).toBe(true);
    expect(await listArtifacts(migration)).toEqual(artifacts);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    await migration.finish('retention', { deletes: 60 });
    expect((await migration.runs.read(RUN)).phase).toBe('closed');
  });

  it('is kept while the active collection is emptied, even if a rollback lost the last common version', async () => {
    const migration = await createLiveRun({ removesArtifactsWhenOver: true });
    const ask: typeof migration.services.hooks.ask = async (request) => {
      if (request.action === 'freeze') await deleteOldCollection(migration);
      return await migration.services.hooks.ask(request);
    };
    const services = { ...migration.services, hooks: { ask } };
    await expect(migration.finish('rollback', {}, services)).rejects.toEqual(
      failureNamed('RefusedNothingToReturnTo'),
    );
    const { phase, base } = await migration.runs.read(RUN);
    expect({ phase, base }).toEqual({ phase: 'live', base: undefined });
    await emptyCollection(migration, migration.target);
    migration.advanceClock(31 * DAY_MS);
    await expect(migration.finish('retention')).rejects.toEqual(failureNamed('RefusedEmptied'));
    expect((await listArtifacts(migration)).filter(isBackup)).not.toEqual([]);
  });

  it('is compared with the active collection only once a day', async () => {
    const migration = await createLiveRun({ removesWhenOver: true });
    const { services, logged } = migration;
    await emptyCollection(migration, migration.target);
    migration.advanceClock(30 * DAY_MS);
    for (let watches = 0; watches < 3; watches += 1) {
      await keepWatch(services).catch(() => undefined);
      migration.advanceClock(TWO_MINUTES_MS);
    }
    const errors = logged.filter(({ level }) => level === 'ERROR');
    expect(errors).toEqual([expect.objectContaining({ failure: 'RefusedEmptied' })]);
    migration.advanceClock(DAY_MS);
    await expect(keepWatch(services)).rejects.toEqual(failureNamed('RefusedEmptied'));
  });

  it('is removed if users deleted some memories, and does not block the end of a run that keeps it', async () => {
    const removing = await createLiveRun({ removesWhenOver: true });
    for (let n = 0; n < 25; n += 1) await deleteFirstPoint(removing, removing.target);
    removing.advanceClock(30 * DAY_MS);
    await removing.finish('retention');
    expect(await hasOldCollection(removing)).toBe(false);
    const keeping = await createLiveRun();
    await emptyCollection(keeping, keeping.target);
    keeping.advanceClock(30 * DAY_MS);
    await keeping.finish('retention');
    expect((await keeping.runs.read(RUN)).phase).toBe('closed');
  });

  it('is removed even if a rollback was refused half-way, which left it unchanged', async () => {
    const plan = { removesWhenOver: true, removesArtifactsWhenOver: true };
    const migration = await createMigrationAt('live', {}, plan);
    await writeToNew(migration, 'Written while live');
    const effect = { kind: 'response', status: 400 } as const;
    migration.qdrant.fault({ on: new RegExp(`^PUT .*/${SOURCE}/points\\?`), effect });
    await expect(migration.finish('rollback')).rejects.toEqual(failureNamed('RefusedByService'));
    expect(await migration.runs.read(RUN)).toMatchObject({ phase: 'live' });
    migration.advanceClock(31 * DAY_MS);
    await migration.finish('retention');
    expect(await hasOldCollection(migration)).toBe(false);
  });

  it('is kept while the setting names the old collection, even if another client changed the setting', async () => {
    const migration = await createLiveRun({ removesWhenOver: true });
    const { services, target, advanceClock } = migration;
    await services.setting.change({ from: target, to: SOURCE });
    advanceClock(31 * DAY_MS);
    await expect(migration.invoke('retention')).rejects.toEqual(
      failureNamed('RefusedSettingChanged'),
    );
    expect(await hasOldCollection(migration)).toBe(true);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    await services.setting.change({ from: SOURCE, to: target });
    expect(await migration.invoke('retention')).toMatchObject({ phase: 'closed' });
    expect(await hasOldCollection(migration)).toBe(false);
  });

  it('is removed completely, even if its removal is killed at any call', async () => {
    const plan = { removesWhenOver: true, removesArtifactsWhenOver: true };
    async function createOverdueRun() {
      const migration = await createLiveRun(plan);
      migration.advanceClock(30 * DAY_MS);
      return migration;
    }
    const undisturbed = await createOverdueRun();
    const artifacts = await listArtifacts(undisturbed);
    const { services, killPoints } = createKillableServices(undisturbed.services);
    await undisturbed.invoke('retention', {}, services);
    expect(killPoints().length).toBeGreaterThan(8);
    let partialRemovals = 0;
    for (const killPoint of killPoints()) {
      const migration = await createOverdueRun();
      const killed = createKillableServices(migration.services, killPoint);
      const attempt = migration.invoke('retention', {}, killed.services);
      await attempt.catch((error) => expect(error).toBeInstanceOf(Killed));
      migration.advanceClock(LEASE_MS);
      const isComplete =
        (await hasOldCollection(migration)) &&
        (await listArtifacts(migration)).length === artifacts.length;
      if (!isComplete && (await migration.runs.read(RUN)).phase === 'live') {
        partialRemovals += 1;
        const lease = await migration.lock.take(RUN);
        await migration.lock.release(lease, 'live');
        migration.advanceClock(-DAY_MS);
        await expect(migration.invoke('rollback')).rejects.toEqual(
          failureNamed('RefusedNotNow', 'The rollback period ended'),
        );
        migration.advanceClock(DAY_MS);
      }
      await migration.invoke('retention', { actor: 'machine' });
      expect((await migration.runs.read(RUN)).phase).toBe('closed');
      expect(await listArtifacts(migration)).toEqual(
        artifacts.filter((key) => !isBase(key) && !isBackup(key)),
      );
      expect(await hasOldCollection(migration)).toBe(false);
      expect(await migration.lock.activeRun()).toBeUndefined();
    }
    expect(partialRemovals).toBeGreaterThan(3);
  });
});

describe('a watch that fails', () => {
  it('is logged with its run and the name of a transient failure', async () => {
    const migration = await createLiveRun();
    const failure = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const runs = { ...migration.runs, read: () => Promise.reject(failure) };
    const watching = keepWatch({ ...migration.services, runs });
    await expect(watching).rejects.toEqual(failureNamed('RetryableUnavailable'));
    expect(migration.logged).toEqual([
      {
        level: 'ERROR',
        message: 'The watch failed; the next one tries again',
        runId: RUN,
        failure: 'RetryableUnavailable',
        why: 'connect.',
      },
    ]);
  });

  it('is logged even if it fails before it reads a run', async () => {
    const migration = await createLiveRun();
    const lock = { ...migration.lock, activeRun: () => Promise.reject(new Error('unexpected')) };
    await expect(keepWatch({ ...migration.services, lock })).rejects.toThrow('unexpected');
    expect(migration.logged).toMatchObject([
      { level: 'ERROR', runId: 'unknown', why: 'unexpected' },
    ]);
  });
});

describe('several runs that are live', () => {
  it('are all watched: if one fails, the others still end', async () => {
    const migration = await createMigrationAt('live', {}, { removesWhenOver: true });
    const { services, runs, lock } = migration;
    expect(await lock.activeRun()).toBeUndefined();
    const run = await runs.read(RUN);
    const plan = { ...run.plan, sourceCollection: 'others', targetCollection: 'others_v3_run-b' };
    const second = await runs.start('run-b', plan, REPORT);
    const lease = await lock.take('run-b');
    const { window, evidence } = run;
    const liveRun = { ...second, phase: 'live' as const, window, evidence };
    await runs.finish(lease, liveRun, 'cutover');
    migration.advanceClock(30 * DAY_MS);
    const read: typeof runs.read = async (id) => {
      if (id === RUN) throw new Error('Not now');
      return await runs.read(id);
    };
    const failingServices = { ...services, runs: { ...runs, read } };
    await expect(keepWatch(failingServices)).rejects.toThrow('Not now');
    expect((await runs.read('run-b')).phase).toBe('closed');
    await keepWatch(services);
    expect((await runs.read(RUN)).phase).toBe('closed');
    expect(await lock.retainedRuns()).toEqual([]);
  });
});
