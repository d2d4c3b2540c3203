// From the copy to the cutover: nothing is lost on the way, and whatever is not proved is refused.
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { ofUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import {
  changeFirst,
  deleteFirst,
  fingerprintOf,
  writeToOld,
} from '../../../support/migration/holdings.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const deleteTarget = (migration: Migration) => deleteFirst(migration, migration.target);
const changeTarget = (migration: Migration) => changeFirst(migration, migration.target);
const writeOld = (migration: Migration) => writeToOld(migration, 'Written after the verification');

describe('a migration', () => {
  it('goes through to the cutover with every memory of every user', async () => {
    const migration = await createMigration();
    const { services, target, runs, operator, clock } = migration;
    const before = await fingerprintOf(services.vectors, SOURCE);
    await migration.prove();
    await migration.finish('cutover');

    const run = await runs.read(RUN);
    expect(run).toMatchObject({ phase: 'live', liveAt: clock().getTime() });
    expect(run.retainUntil).toBe(clock().getTime() + 30 * 86_400_000);
    expect(await services.setting.read()).toBe(target);
    expect(await fingerprintOf(services.vectors, target)).toEqual(before);
    expect(await fingerprintOf(services.vectors, SOURCE)).toEqual(before);
    expect(operator.heard.filter((action) => action !== 'freeze')).toEqual([
      'deploy-new',
      'open-writes',
    ]);
    expect(await services.vectors.count(target, ofUser(testUserOf(RUN)))).toBe(0);
  });

  it('brings over what was written, changed and deleted between the copy and the freeze', async () => {
    const migration = await migrationAt('copied');
    await writeToOld(migration, 'Ada has bought a boat');
    await deleteFirst(migration, SOURCE);
    await migration.follow('freeze', 'backup', 'copy', 'cutover');
    const { vectors } = migration.services;
    expect(await fingerprintOf(vectors, migration.target)).toEqual(
      await fingerprintOf(vectors, SOURCE),
    );
  });
});

describe('the window', () => {
  it('is not opened where it is too short, and nothing of it has begun; with more minutes it is', async () => {
    const plan = { windowMinutes: 3, deploySeconds: 150 };
    const migration = await migrationAt('copied', {}, plan);
    const data = { windowMinutes: 4 };
    const refused = expect.objectContaining({ name: 'RefusedPrerequisites', data });
    await expect(migration.invoke('freeze')).rejects.toEqual(refused);
    expect(migration.operator.heard).toEqual([]);
    expect(await migration.runs.read(RUN)).toMatchObject({ phase: 'copied', plan });
    await migration.finish('freeze', data);
    const { phase, deadlineAt, phaseAt = 0, plan: widened } = await migration.runs.read(RUN);
    expect([phase, widened.windowMinutes]).toEqual(['frozen', 4]);
    expect(deadlineAt).toBeLessThanOrEqual(phaseAt + 4 * 60_000);
  });

  it('leaves the figures of the searches in the report, and its phases and times in the record', async () => {
    const migration = await migrationAt('live');
    const { history, evidence, took } = await readStatus(migration.services, RUN);
    expect(evidence.find(({ kind }) => kind === 'verification-report')?.facts).toMatchObject({
      ...{ searched: 60, overlap: 1, pending: 0 },
    });
    expect(history.map(({ phase }) => phase)).toEqual([
      ...['checked', 'backed-up', 'rebuilt', 'copied'],
      ...['freezing', 'frozen', 'window-backed-up', 'switching', 'live'],
    ]);
    expect(took.freeze).toBeGreaterThanOrEqual(60);
    expect(Object.keys(took)).toEqual(expect.arrayContaining(['backup', 'copy', 'cutover']));
  });

  it('is not opened before somebody has approved the report', async () => {
    const migration = await migrationAt('copied');
    for (const approvedDigest of [undefined, 'f'.repeat(64), 'f'.repeat(8)]) {
      const opening = migration.invoke('freeze', { approvedDigest });
      await expect(opening).rejects.toEqual(named('RefusedNotApproved'));
    }
    const run = await migration.runs.read(RUN);
    expect(run.phase).toBe('copied');
    expect(run.deadlineAt).toBeUndefined();
    expect(migration.operator.heard).toEqual([]);
  });

  it('is not believed in when a proxy says that there is no such collection', async () => {
    const migration = await migrationAt('copied');
    const does = { kind: 'answer', status: 404, body: 'no such route' } as const;
    migration.qdrant.fault({ on: /points\/count/, does });
    await expect(migration.finish('freeze')).rejects.toMatchObject({ answer: 404 });
    expect((await migration.runs.read(RUN)).phase).toBe('freezing');
  });

  it('is not believed in while a write still goes through, which is taken back', async () => {
    const migration = await migrationAt('copied', { forgetsToFreeze: true });
    for (let n = 0; n < 2; n += 1) {
      await expect(migration.finish('freeze')).rejects.toEqual(named('RefusedNotFrozen'));
      expect((await migration.runs.read(RUN)).phase).toBe('freezing');
    }
    // A webhook that does each request once is asked for another one.
    const { requests } = migration.operator;
    expect(new Set(requests.map(({ occasion }) => occasion)).size).toBe(2);
    const { vectors } = migration.services;
    expect(await vectors.count(SOURCE, ofUser(testUserOf(RUN)))).toBe(0);
  });

  it.each([[503], ['ECONNREFUSED']])(
    'is believed in for %s, once the longest request has had the time to end',
    async (answer) => {
      const migration = await migrationAt('copied');
      let tries = 0;
      const addMemory = () => {
        tries += 1;
        return Promise.reject(new RetryableFailure('RetryableUnavailable', 'Frozen.', { answer }));
      };
      const before = migration.clock();
      const frozenSince = async () => (await readStatus(migration.services)).frozenSince;
      const changes = { backend: { addMemory } };
      await migration.invoke('freeze', {}, changes);
      expect(await frozenSince()).toBe(before.toISOString());
      migration.pass(10_000);
      await migration.finish('freeze', {}, changes);
      expect(await frozenSince()).toBe(before.toISOString());
      expect(migration.clock().getTime() - before.getTime()).toBe(60_000);
      expect(tries).toBe(7);
      const { facts } = (await migration.runs.read(RUN)).evidence['freeze-proof'] ?? {};
      expect(facts).toEqual({ refusedWith: String(answer), drainedSeconds: 60 });
    },
  );

  it('names the host and the cause where the backend cannot be reached', async () => {
    const migration = await migrationAt('copied');
    const why = 'The memory backend: POST /memories: no answer from memory.test (ETIMEDOUT).';
    const addMemory = () => Promise.reject(new RetryableFailure('RetryableUnavailable', why));
    const changes = { backend: { addMemory } };
    expect(await migration.invoke('freeze', {}, changes)).toMatchObject({
      waitsFor: `a write to be refused with 503 (${why})`,
    });
    const attempt = migration.finish('freeze', {}, changes);
    await expect(attempt).rejects.toEqual(named('RefusedNotFrozen', why));
  });

  it('drains again from the first refusal after a write that was answered otherwise', async () => {
    const migration = await migrationAt('copied');
    const answers = [503, 503, 429, 503];
    const addMemory = () => {
      const answer = answers.shift() ?? 503;
      return Promise.reject(new RetryableFailure('RetryableUnavailable', 'Not now.', { answer }));
    };
    const before = migration.clock().getTime();
    await migration.finish('freeze', {}, { backend: { addMemory } });
    expect(migration.clock().getTime() - before).toBe(90_000);
  });

  it('looks again as soon as the longest request may have ended', async () => {
    const migration = await migrationAt('copied', {}, { drainSeconds: 2 });
    const answers = [429, 503];
    const addMemory = () => {
      const answer = answers.shift() ?? 503;
      return Promise.reject(new RetryableFailure('RetryableUnavailable', 'Not now.', { answer }));
    };
    const before = migration.clock().getTime();
    await migration.finish('freeze', {}, { backend: { addMemory } });
    expect(migration.clock().getTime() - before).toBe(4_000);
  });

  it('closes at its deadline: nothing but a rollback is done after it', async () => {
    const migration = await migrationAt('switching');
    migration.pass(31 * 60_000);
    await expect(migration.invoke('cutover')).rejects.toEqual(
      named('RefusedNotNow', 'The window closed at'),
    );
    expect((await migration.runs.read(RUN)).phase).toBe('switching');
    await migration.finish('rollback', { actor: 'machine' });
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });
});

describe('a cutover', () => {
  it.each([
    ['a memory of the new collection is gone', deleteTarget, 'RefusedVerification'],
    ['a memory of the new collection was changed', changeTarget, 'RefusedVerification'],
    ['the old collection was written to', writeOld, 'RefusedSourceChanged'],
  ] as const)('does not open writes when %s', async (_, change, refusal) => {
    const migration = await migrationAt('switching');
    await change(migration);
    await expect(migration.finish('cutover')).rejects.toEqual(named(refusal));
    expect((await migration.runs.read(RUN)).phase).toBe('switching');
    expect((await migration.runs.read(RUN)).openedAt).toBeUndefined();
    expect(migration.operator.heard).not.toContain('open-writes');
    const old = await fingerprintOf(migration.services.vectors, SOURCE);
    await migration.finish('rollback', { actor: 'machine' });
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect(await fingerprintOf(migration.services.vectors, SOURCE)).toEqual(old);
  });

  it('is refused when somebody else has changed the setting', async () => {
    const migration = await migrationAt('switching');
    await migration.services.setting.change({ from: SOURCE, to: 'elsewhere' });
    const attempt = migration.invoke('cutover');
    await expect(attempt).rejects.toEqual(named('RefusedSettingChanged', `instead of "${SOURCE}"`));
    expect(await migration.services.setting.read()).toBe('elsewhere');
  });

  it('names the deployment where the old version, still frozen, refuses the test write', async () => {
    const migration = await migrationAt('switching');
    const hooks = { ask: async () => 'done' as const };
    const attempt = migration.finish('cutover', {}, { hooks });
    await expect(attempt).rejects.toEqual(
      named('RetryableUnavailable', `check that "deploy-new" on ${migration.target} is done`),
    );
  });

  it('is a dry run unless it is told otherwise', async () => {
    const migration = await migrationAt('switching');
    const before = await migration.runs.read(RUN);
    expect(await migration.invoke('cutover', { execute: false })).toMatchObject({
      dryRun: true,
      forecast: { setting: { from: SOURCE, to: migration.target } },
    });
    expect(await migration.runs.read(RUN)).toEqual(before);
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });
});
