// What keeps the window from opening writes, and how long the artifacts are kept.
import { describe, expect, it } from 'vitest';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { whenAsked } from '../../../support/migration/changed-services.ts';
import { deleteFirst, standingOf, writeToOld } from '../../../support/migration/holdings.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

describe('a migration', () => {
  it('whose artifacts are kept for thirty days from the cutover on', async () => {
    const migration = await migrationAt('live');
    const { artifacts } = migration.services;
    const kept = await Array.fromAsync(artifacts.list(`${RUN}/snapshot`));
    const day = migration.clock().getTime() + 30 * 86_400_000;
    const retained = kept.filter(({ retainUntil }) => (retainUntil?.getTime() ?? 0) >= day);
    expect(retained.length).toBeGreaterThan(0);
    for (const { key } of retained) {
      await expect(artifacts.delete(key)).rejects.toThrow(/kept until/);
    }
  });
});

describe('the window', () => {
  it.each([
    ['a timeout', undefined],
    ['a request too many', 429],
    ['a bad gateway', 502],
    ['a failure of its own', 500],
  ])(
    'is not believed in for %s, which is asked for again, and refused in the end',
    async (_, answer) => {
      const migration = await migrationAt('copied');
      const options = answer === undefined ? {} : { answer };
      const addMemory = () =>
        Promise.reject(new RetryableFailure('RetryableUnavailable', 'Not now.', options));
      const changes = { backend: { addMemory } };
      expect(await migration.invoke('freeze', {}, changes)).toMatchObject({ done: false });
      const attempt = migration.finish('freeze', {}, changes);
      await expect(attempt).rejects.toEqual(named('RefusedNotFrozen'));
      expect((await migration.runs.read(RUN)).phase).toBe('freezing');
    },
  );
});

describe('a cutover', () => {
  it('looks at both collections again when it is resumed', async () => {
    const migration = await migrationAt('switching');
    const deploying = whenAsked(migration, 'deploy-new', () => 'under-way');
    const waiting = await migration.invoke('cutover', {}, deploying);
    expect(waiting).toMatchObject({ phase: 'switching', done: false });
    await writeToOld(migration, 'Written while the new version was deployed');
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedSourceChanged'));
    await writeToOld(migration, 'And once more');
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedSourceChanged'));
    expect(migration.operator.heard).not.toContain('open-writes');
  });

  it('is refused while the backups could still be deleted, before anything is switched', async () => {
    const migration = await migrationAt('switching');
    const retain = () => Promise.reject(new Refusal('RefusedCredentials', 'Not allowed.'));
    const attempt = migration.finish('cutover', {}, { artifacts: { retain } });
    await expect(attempt).rejects.toEqual(named('RefusedCredentials'));
    expect(await migration.runs.read(RUN)).not.toHaveProperty('switchedAt');
    expect(await migration.services.setting.read()).toBe(SOURCE);
    await migration.finish('cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it.each([
    ['has no model for keywords', { noKeywordModel: true }, 'fastembed'],
    ['has another embedding model', { otherEmbeddings: true }, 'another embedding model'],
    ['remembers nothing', { emptyExtractions: 9 }, 'does not find what it has remembered'],
  ] as const)('to a version that %s opens no writes, and is rolled back', async (_, lacks, why) => {
    const migration = await migrationAt('switching', { hasPreview: false, shortcomings: lacks });
    const before = await standingOf(migration);
    await expect(migration.finish('cutover')).rejects.toEqual(named('RefusedNewVersion', why));
    expect(migration.operator.heard).not.toContain('open-writes');
    await migration.finish('rollback', { actor: 'machine' });
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'copied' });
    expect(migration.operator.heard.slice(-2)).toEqual(['deploy-old', 'open-writes']);
  });

  it('is not finished while a count of a user differs', async () => {
    const migration = await migrationAt('switching');
    const deleting = whenAsked(migration, 'deploy-new', () =>
      deleteFirst(migration, migration.target),
    );
    const attempt = migration.finish('cutover', {}, deleting);
    await expect(attempt).rejects.toEqual(named('RefusedVerification'));
    expect((await migration.runs.read(RUN)).phase).toBe('switching');
    expect(migration.operator.heard).not.toContain('open-writes');
  });
});
