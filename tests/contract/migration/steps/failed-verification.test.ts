// A comparison in the window that fails replaces an older one that passed: in the record, in status, and at the cutover.
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

/** The store confirms writes to the new collection that it does not keep. */
async function failing(migration: Migration): Promise<Migration> {
  const { services, target } = migration;
  const { points } = await services.vectors.scroll(target, { limit: 1 });
  await services.vectors.deletePoints(target, { ids: points.map(({ id }) => id) });
  const vectors = { ...services.vectors, upsert: async () => undefined };
  const attempt = migration.finish('copy', {}, { ...services, vectors });
  await expect(attempt).rejects.toEqual(named('RefusedVerification'));
  await expect(attempt).rejects.toThrow('missing: 1');
  return migration;
}

async function reportOf({ services }: Migration) {
  const { evidence } = await readStatus(services, RUN);
  return evidence.find(({ kind }) => kind === 'verification-report');
}

describe('a comparison that fails in the window', () => {
  it('is what status shows, and its report is the one that was stored', async () => {
    const migration = await migrationAt('window-verified');
    const before = await reportOf(migration);
    const report = await reportOf(await failing(migration));
    expect([before?.facts.isPassed, report?.facts.isPassed]).toEqual([true, false]);
    expect(await migration.services.artifacts.head(report?.artifact ?? '')).toMatchObject({
      sha256: report?.digest,
    });
  });

  it('stops the cutover by its name, until another one passes', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    const attempt = migration.finish('cutover');
    await expect(attempt).rejects.toEqual(named('RefusedVerification'));
    await expect(attempt).rejects.toThrow(/verification-report-\d+\.json/);
    expect((await migration.runs.read(RUN)).phase).toBe('proved');
    await migration.follow('copy', 'cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('leaves the way back open', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    await migration.finish('rollback');
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
  });
});
