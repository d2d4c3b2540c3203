// The ways back: without loss while nobody wrote, with the exact loss acknowledged and exported after that,
// from the snapshot when the old collection is gone, and none at all when the retention has ended.
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../lib/migration/scan.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { startNewVersion } from '../../../../local/sandbox/memory-backend/new-version.ts';
import { SOURCE, type WorldOptions } from '../../../../local/sandbox/world.ts';
import { writeToOld } from '../../../support/migration/fears.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const DAY_MS = 86_400_000;

async function live(options: Partial<WorldOptions> = {}) {
  return await migrationAt('live', options);
}

async function writeToNew({ services, target, clock }: Migration, count: number): Promise<void> {
  const settings = { store: services.vectors, collection: target, dimensions: 8, now: clock };
  const version = await startNewVersion(settings);
  for (let n = 1; n <= count; n += 1) await version.add('user-1', `New fact ${n}`);
}

describe('going back', () => {
  it.each(['freezing', 'frozen', 'secured', 'proved'] as const)(
    'from a run that is %s only opens writes again',
    async (phase) => {
      const migration = await createMigration();
      const before = await fingerprintOf(migration.services.vectors, SOURCE);
      await migration.start();
      await migration.follow('preflight', 'backup', 'rebuild', 'copy', 'verify');
      await migration.openWindow();
      await migration.invoke('freeze');
      for (const step of ['freeze', 'backup', 'copy'] as const) {
        if ((await migration.runs.read(RUN)).phase === phase) break;
        await migration.finish(step);
      }
      await migration.finish('rollback', { actor: 'machine' });
      expect((await migration.runs.read(RUN)).phase).toBe('returned');
      expect(migration.operator.heard.at(-1)).toBe('open-writes');
      expect(migration.operator.heard).not.toContain('deploy-old');
      expect(await fingerprintOf(migration.services.vectors, SOURCE)).toEqual(before);
    },
  );

  it('from a cutover that failed points back and loses nothing', async () => {
    const migration = await migrationAt('window-verified', {
      hasPreview: false,
      shortcomings: { noKeywordModel: true },
    });
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedSemanticOnly'));
    await migration.finish('rollback', { actor: 'machine' });
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect(migration.operator.heard.slice(-2)).toEqual(['deploy-old', 'open-writes']);
    expect((await migration.runs.read(RUN)).evidence['return-report']?.facts).toEqual({
      returnedTo: SOURCE,
      lost: 0,
    });
  });

  it('before the first write to the new version loses nothing and needs no acknowledgement', async () => {
    const migration = await live();
    await migration.finish('rollback');
    expect(await migration.services.setting.read()).toBe(SOURCE);
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
    expect(await migration.lock.activeRun()).toBeUndefined();
  });

  it('opens writes on no old version that is not up', async () => {
    const migration = await live();
    const { hooks } = migration.services;
    const ask: typeof hooks.ask = async (request) => {
      const answer = await hooks.ask(request);
      if (request.action === 'deploy-old') migration.backend.deploy(undefined);
      return answer;
    };
    const services = { ...migration.services, hooks: { ask } };
    const attempt = migration.finish('rollback', {}, services);
    await expect(attempt).rejects.toMatchObject({ name: 'RetryableUnavailable' });
    expect((await migration.runs.read(RUN)).phase).toBe('returning');
    expect(migration.operator.heard.at(-1)).toBe('deploy-old');
    await migration.finish('rollback');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });

  it('is never decided by the machine once users work on the new version', async () => {
    const migration = await live();
    const attempt = migration.invoke('rollback', { actor: 'machine' });
    await expect(attempt).rejects.toEqual(named('RefusedNotNow'));
  });

  it.each([undefined, 0, 2, 4])(
    'with 3 writes to lose is refused for %s acknowledged',
    async (n) => {
      const migration = await live();
      await writeToNew(migration, 3);
      const input = n === undefined ? {} : { acknowledgedLoss: n };
      const attempt = migration.invoke('rollback', input);
      await expect(attempt).rejects.toEqual(named('RefusedLossNotAcknowledged'));
      await expect(attempt).rejects.toThrow(/loses 3 writes/);
      expect((await migration.runs.read(RUN)).phase).toBe('live');
      expect(await migration.services.setting.read()).toBe(migration.target);
    },
  );

  it('with the exact number acknowledged exports what is lost first', async () => {
    const migration = await live();
    await writeToNew(migration, 3);
    expect(await migration.invoke('rollback', { execute: false })).toMatchObject({
      forecast: { returnsTo: SOURCE, lostWrites: 3 },
    });
    await migration.finish('rollback', { acknowledgedLoss: 3 });
    const { facts } = (await migration.runs.read(RUN)).evidence['return-report'] ?? {};
    expect(facts).toMatchObject({ lost: 3, returnedTo: SOURCE });
    const bytes = await Array.fromAsync(
      migration.services.artifacts.get(String(facts?.exportedTo)),
    );
    const lines = Buffer.concat(bytes).toString().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).payload.data).toSorted()).toEqual([
      'New fact 1',
      'New fact 2',
      'New fact 3',
    ]);
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });

  it('counts what was written while it froze, and asks again', async () => {
    const migration = await live();
    const { hooks } = migration.services;
    let asked = 0;
    const racing = {
      ...migration.services,
      hooks: {
        ask: async (request: Parameters<typeof hooks.ask>[0]) => {
          asked += 1;
          if (asked === 1) await writeToNew(migration, 1);
          return await hooks.ask(request);
        },
      },
    };
    const attempt = migration.finish('rollback', {}, racing);
    await expect(attempt).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    expect((await migration.runs.read(RUN)).phase).toBe('returning');
    await migration.finish('rollback', { acknowledgedLoss: 1 });
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
  });

  it('without the old collection restores the snapshot under a fresh name', async () => {
    const migration = await live();
    const { vectors, setting } = migration.services;
    const before = await fingerprintOf(vectors, SOURCE);
    await vectors.deleteCollection(SOURCE);
    await migration.finish('rollback');
    const restored = `${SOURCE}_restored_${RUN}`;
    expect(await setting.read()).toBe(restored);
    expect(await fingerprintOf(vectors, restored)).toEqual(before);
    expect(await vectors.listCollections()).not.toContain(SOURCE);
  });

  it('counts what somebody wrote to the old collection, which is restored to what was verified', async () => {
    const migration = await live();
    await writeToOld(migration, 'Of a program that still used the old one');
    const { setting, artifacts } = migration.services;
    const attempt = migration.invoke('rollback');
    await expect(attempt).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    await expect(attempt).rejects.toThrow(/loses 1 write/);
    await migration.finish('rollback', { acknowledgedLoss: 1 });
    expect(await setting.read()).toBe(`${SOURCE}_restored_${RUN}`);
    const { evidence } = await migration.runs.read(RUN);
    const key = String(evidence['return-report']?.facts.exportedTo);
    const text = Buffer.concat(await Array.fromAsync(artifacts.get(key))).toString();
    expect(text).toContain('Of a program that still used the old one');
  });
});

describe('the retention', () => {
  it('ends nothing a day early, warns in the last week, and then there is no way back', async () => {
    const migration = await live();
    migration.pass(22 * DAY_MS);
    const early = await readStatus(migration.services);
    expect(early.retention).toMatchObject({ daysLeft: 8, isEnding: false, isOver: false });
    migration.pass(1 * DAY_MS);
    expect((await readStatus(migration.services)).retention).toMatchObject({ isEnding: true });
    migration.pass(7 * DAY_MS - 1);
    expect(await migration.invoke('retention')).toMatchObject({ phase: 'live', done: false });
    migration.pass(1);
    await expect(migration.invoke('rollback')).rejects.toEqual(named('RefusedIrreversible'));
    expect(await migration.invoke('retention')).toMatchObject({ phase: 'irreversible' });
    const attempt = migration.invoke('rollback');
    await expect(attempt).rejects.toEqual(named('RefusedIrreversible'));
    await expect(attempt).rejects.toThrow(/ended 20\d\d-/);
  });

  it.each([
    [true, false],
    [false, true],
  ])('removing when over: %s, leaves the old collection: %s', async (removesWhenOver, isLeft) => {
    const migration = await migrationAt('live', {}, { removesWhenOver });
    migration.pass(30 * DAY_MS);
    await migration.finish('retention');
    expect(await migration.services.vectors.listCollections()).toContain(SOURCE);
    await migration.finish('retention');
    expect((await migration.runs.read(RUN)).phase).toBe('closed');
    expect((await migration.services.vectors.listCollections()).includes(SOURCE)).toBe(isLeft);
    expect(await migration.lock.activeRun()).toBeUndefined();
  });
});
