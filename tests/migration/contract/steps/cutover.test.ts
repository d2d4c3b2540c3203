// The cutover loses no memory, and is refused unless every proof succeeds.
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { journalSchema } from '../../../../lib/migration/runs/journal.ts';
import { phaseSince } from '../../../../lib/migration/runs/run.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { filterByUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { computeFingerprint, deleteFirstPoint, writeToOld } from '../../support/collections.ts';
import { createMigration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

describe('a migration', () => {
  it('completes the cutover with every memory of every user', async () => {
    const migration = await createMigration();
    const { services, target, runs, operator, clock } = migration;
    const before = await computeFingerprint(services.vectors, SOURCE);
    await migration.runUntilEqual();
    await migration.finish('cutover');

    const run = await runs.read(RUN);
    expect(run.phase).toBe('live');
    expect(run.window?.retainUntil).toBe(clock().getTime() + 30 * 86_400_000);
    expect(await services.setting.read()).toBe(target);
    expect(await computeFingerprint(services.vectors, target)).toEqual(before);
    expect(await computeFingerprint(services.vectors, SOURCE)).toEqual(before);
    expect(operator.actions.filter((action) => action !== 'freeze')).toEqual([
      'deploy-new',
      'open-writes',
    ]);
    expect(await services.vectors.count(target, filterByUser(testUserOf(RUN)))).toBe(0);
  });

  it('records its stages under the names of earlier releases, because an update may meet a run at any stage', async () => {
    const migration = await createMigrationAt('copied');
    const { runs } = migration;
    const names = new Set<string>();
    const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
      await runs.saveCheckpoint(lease, step, checkpoint);
      const { passed } = v.parse(journalSchema, checkpoint.state);
      for (const name of Object.keys(passed)) names.add(name);
    };
    await migration.finish('cutover', {}, { runs: { saveCheckpoint } });
    expect([...names]).toEqual([
      ...['frozen', 'backed-up', 'equal', 'prepared', 'uploaded', 'setting-changed'],
      ...['deployed', 'proved', 'last-look'],
    ]);
  });

  it('carries over what was written, changed and deleted between the copy and the freeze', async () => {
    const migration = await createMigrationAt('copied');
    await writeToOld(migration, 'Ada has bought a boat');
    await deleteFirstPoint(migration, SOURCE);
    await migration.follow('cutover');
    const { vectors } = migration.services;
    expect(await computeFingerprint(vectors, migration.target)).toEqual(
      await computeFingerprint(vectors, SOURCE),
    );
  });
});

describe('the window', () => {
  it('is not opened if it is too short, and no step begins', async () => {
    const plan = { windowMinutes: 3, deploySeconds: 150 };
    const migration = await createMigrationAt('copied', {}, plan);
    const data = { windowMinutes: 4 };
    const refused = expect.objectContaining({ name: 'RefusedPrerequisites', data });
    await expect(migration.invoke('cutover')).rejects.toEqual(refused);
    expect(migration.operator.actions).toEqual([]);
    expect(await migration.runs.read(RUN)).toMatchObject({ phase: 'copied', plan });
    await migration.invoke('cutover', data);
    const run = await migration.runs.read(RUN);
    expect([run.phase, run.plan.windowMinutes]).toEqual(['switching', 4]);
    expect(run.window?.deadlineAt).toBe(phaseSince(run) + 4 * 60_000);
  });

  it('stores the figures of the searches in the report, and its phases and times in the record', async () => {
    const migration = await createMigrationAt('live');
    const { history, evidence, took } = await readStatus(migration.services, RUN);
    const report = evidence.find(({ kind }) => kind === 'verification-report');
    expect(report?.facts).toMatchObject({ searched: 60, overlap: 1, pending: 0 });
    expect(history.map(({ phase }) => phase)).toEqual([
      ...['checked', 'backed-up', 'rebuilt', 'copied'],
      ...['switching', 'live'],
    ]);
    expect(took.freeze).toBeGreaterThanOrEqual(60);
    expect(Object.keys(took)).toEqual(
      expect.arrayContaining(['backup', 'copy', 'deploy', 'cutover']),
    );
  });

  it('is not opened before the report is approved', async () => {
    const migration = await createMigrationAt('copied');
    for (const approvedDigest of [undefined, 'f'.repeat(64), 'f'.repeat(8)]) {
      const opening = migration.invoke('cutover', { approvedDigest });
      await expect(opening).rejects.toEqual(failureNamed('RefusedNotApproved'));
    }
    const run = await migration.runs.read(RUN);
    expect(run.phase).toBe('copied');
    expect(run.window).toBeUndefined();
    expect(migration.operator.actions).toEqual([]);
  });

  it.each([[503], ['ECONNREFUSED']])(
    'trusts the freeze, if test writes fail with %s, once even the longest request must have ended',
    async (code) => {
      const migration = await createMigrationAt('copied');
      let attempts = 0;
      const addMemory = () => {
        attempts += 1;
        return Promise.reject(new RetryableFailure('RetryableUnavailable', 'Frozen.', { code }));
      };
      const before = migration.clock();
      const frozenSince = async () => (await readStatus(migration.services)).frozenSince;
      const changes = { backend: { addMemory } };
      await migration.invoke('cutover', {}, changes);
      expect(await frozenSince()).toBe(before.toISOString());
      migration.advanceClock(10_000);
      await migration.runUntilStage('frozen', changes);
      expect(await frozenSince()).toBe(before.toISOString());
      expect(migration.clock().getTime() - before.getTime()).toBe(60_000);
      expect(attempts).toBe(7);
      const { state } = (await migration.runs.readCheckpoint(RUN, 'cutover')) ?? {};
      const found = { refusedWith: String(code), drainedSeconds: 60 };
      expect(state).toMatchObject({ passed: { frozen: { found } } });
    },
  );

  it('names the host and the cause if the backend cannot be reached', async () => {
    const migration = await createMigrationAt('copied');
    const why = 'The memory backend: POST /memories: no answer from memory.test (ETIMEDOUT).';
    const addMemory = () => Promise.reject(new RetryableFailure('RetryableUnavailable', why));
    const changes = { backend: { addMemory } };
    expect(await migration.invoke('cutover', {}, changes)).toMatchObject({
      waitsFor: `a write to be refused with 503 (${why})`,
    });
    const attempt = migration.finish('cutover', {}, changes);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotFrozen', why));
  });

  it.each([
    ['drains again, from the next refusal on, if a test write gets another response', 60, 90],
    ['sends the next test write as soon as the longest request may have ended', 2, 4],
  ])('%s', async (_, drainSeconds, seconds) => {
    const migration = await createMigrationAt('copied', {}, { drainSeconds });
    const codes = drainSeconds === 2 ? [429] : [503, 503, 429];
    const addMemory = () => {
      const code = codes.shift() ?? 503;
      return Promise.reject(new RetryableFailure('RetryableUnavailable', 'Not now.', { code }));
    };
    const before = migration.clock().getTime();
    await migration.runUntilStage('frozen', { backend: { addMemory } });
    expect(migration.clock().getTime() - before).toBe(seconds * 1_000);
  });
});

describe('a cutover', () => {
  it('names the deployment if the old version, still frozen, refuses the test write', async () => {
    const migration = await createMigrationAt('equal');
    const hooks = { ask: async () => 'done' as const };
    const attempt = migration.finish('cutover', {}, { hooks });
    await expect(attempt).rejects.toEqual(
      failureNamed(
        'RetryableUnavailable',
        `check that "deploy-new" on ${migration.target} is done`,
      ),
    );
  });

  it('is a dry run without `execute`', async () => {
    const migration = await createMigrationAt('equal');
    const before = await migration.runs.read(RUN);
    expect(await migration.invoke('cutover', { execute: false })).toMatchObject({
      dryRun: true,
      forecast: { setting: { from: SOURCE, to: migration.target } },
    });
    expect(await migration.runs.read(RUN)).toEqual(before);
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });
});
