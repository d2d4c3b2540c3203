// Fears of a window that does not close, and of a way back that is none.
import { describe, expect, it } from 'vitest';
import { missingArtifact } from '../../../../lib/migration/ports/artifacts.ts';
import { readManifest } from '../../../../lib/migration/proof/backup-manifest.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { startNewVersion } from '../../../../local/sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { standingOf } from '../../../support/migration/fears.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

const DAY_MS = 86_400_000;

async function watchUntilDone(migration: Migration): Promise<void> {
  for (;;) {
    const result = await keepWatch(migration.services);
    if (result === undefined || result.dryRun || result.done) return;
    migration.pass(result.waitSeconds * 1_000);
  }
}

describe('Fear 7: writes are never unfrozen, or frozen past the window', () => {
  async function frozen(): Promise<Migration> {
    return await migrationAt('frozen');
  }

  async function halfSwitched(): Promise<Migration> {
    const migration = await migrationAt('window-verified', {
      hasPreview: false,
      shortcomings: { noKeywordModel: true },
    });
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedSemanticOnly'));
    return migration;
  }

  it.each([
    ['just frozen', frozen],
    ['proved', () => migrationAt('window-verified')],
    ['half switched', halfSwitched],
  ] as const)('a run that is %s at the deadline goes back by itself', async (_, arrive) => {
    const migration = await arrive();
    const { old } = await standingOf(migration);
    migration.pass(30 * 60_000);
    await watchUntilDone(migration);
    expect(await standingOf(migration)).toEqual({ old, active: SOURCE, phase: 'returned' });
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });
});

describe('Fear 15: rollback discovers writes, or has nothing to go back to', () => {
  it('writes are not lost unless exactly so many are acknowledged', async () => {
    const migration = await migrationAt('live');
    const { services, target: collection, clock: now } = migration;
    const settings = { store: services.vectors, collection, dimensions: 8, now };
    await (await startNewVersion(settings)).add('user-1', 'A new fact');
    const before = await standingOf(migration);
    const attempt = migration.finish('rollback');
    await expect(attempt).rejects.toEqual(named('RefusedLossNotAcknowledged'));
    expect(await standingOf(migration)).toEqual(before);
    await migration.finish('rollback', { acknowledgedLoss: 1 });
    const { old } = before;
    expect(await standingOf(migration)).toEqual({ old, active: SOURCE, phase: 'returned' });
  });

  it('with the old collection gone and the store upgraded, users stay where they are', async () => {
    const migration = await migrationAt('live');
    const { services, target, operator } = migration;
    await services.vectors.deleteCollection(SOURCE);
    const vectors = { ...services.vectors, version: async () => '2.0.0' };
    const attempt = migration.finish('rollback', {}, { ...services, vectors });
    await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
    expect(await services.setting.read()).toBe(target);
    expect(operator.heard).not.toContain('deploy-old');
  });

  it('with a part of the backup lost beside the old collection, users stay where they are', async () => {
    const migration = await migrationAt('live');
    const { services, target, operator, runs } = migration;
    await services.vectors.deleteCollection(SOURCE);
    const { parts } = await readManifest(services, await runs.read(RUN));
    const lost = parts.at(-1)?.artifact;
    const artifacts = {
      ...services.artifacts,
      async *get(...[key, range]: Parameters<typeof services.artifacts.get>) {
        if (key === lost) throw missingArtifact(key);
        yield* services.artifacts.get(key, range);
      },
    };
    const attempt = migration.finish('rollback', {}, { ...services, artifacts });
    await expect(attempt).rejects.toEqual(named('RefusedNothingToReturnTo'));
    expect(await services.setting.read()).toBe(target);
    expect((await runs.read(RUN)).phase).toBe('live');
    expect(operator.heard).not.toContain('deploy-old');
  });

  it('with the old image gone it says so, and ends when there is one again', async () => {
    const migration = await migrationAt('live');
    const { services, operator } = migration;
    const hooks: typeof services.hooks = {
      async ask(request) {
        if (request.action !== 'deploy-old') return await operator.hooks.ask(request);
        throw new Refusal('RefusedByWebhook', 'The webhook answered 404 to deploy-old.');
      },
    };
    const attempt = migration.finish('rollback', {}, { ...services, hooks });
    await expect(attempt).rejects.toEqual(named('RefusedByWebhook'));
    expect((await migration.runs.read(RUN)).phase).toBe('returning');
    expect(await services.vectors.listCollections()).toContain(SOURCE);
    await migration.finish('rollback');
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
    expect(operator.heard.at(-1)).toBe('open-writes');
  });

  it('when the days are over it is refused, and says since when', async () => {
    const migration = await migrationAt('live');
    migration.pass(30 * DAY_MS);
    const before = await standingOf(migration);
    const attempt = migration.finish('rollback');
    await expect(attempt).rejects.toEqual(named('RefusedIrreversible'));
    await expect(attempt).rejects.toThrow(/20\d\d-/);
    expect(await standingOf(migration)).toEqual(before);
  });

  it('before the days are over, nothing of the way back is removed', async () => {
    const migration = await migrationAt('window-verified');
    await migration.finish('cutover');
    migration.pass(30 * DAY_MS - 1);
    expect(await migration.invoke('retention')).toMatchObject({ phase: 'live', done: false });
    expect(await migration.services.vectors.listCollections()).toContain(SOURCE);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });
});
