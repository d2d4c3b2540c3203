// A verification that fails takes the place of an older one that passed: in the record, and in status.
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { deleteFirst } from '../../../support/migration/fears.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

async function failing(migration: Migration): Promise<Migration> {
  await deleteFirst(migration, migration.target);
  await expect(migration.finish('verify')).rejects.toEqual(named('RefusedVerification'));
  return migration;
}

async function shown({ services }: Migration) {
  const { evidence } = await readStatus(services, RUN);
  return { report: evidence.find(({ kind }) => kind === 'verification-report') };
}

describe('a verification that fails', () => {
  it('opens no window, also with its own digest', async () => {
    const migration = await failing(await migrationAt('verified'));
    await expect(migration.invoke('freeze')).rejects.toEqual(named('RefusedVerification'));
    expect((await readStatus(migration.services, RUN)).approval).toMatchObject({ digest: null });
  });

  it('is what status shows, and its report is the one that was stored', async () => {
    const migration = await migrationAt('window-verified');
    const before = (await shown(migration)).report;
    await failing(migration);
    const { report } = await shown(migration);
    expect([before?.facts.isPassed, report?.facts.isPassed]).toEqual([true, false]);
    expect(await migration.services.artifacts.head(report?.artifact ?? '')).toMatchObject({
      sha256: report?.digest,
    });
  });

  it('inside the window stops the cutover by its name', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    const attempt = migration.finish('cutover');
    await expect(attempt).rejects.toEqual(named('RefusedVerification'));
    await expect(attempt).rejects.toThrow(/verification-report-\d+\.json/);
    expect((await migration.runs.read(RUN)).phase).toBe('proved');
    await migration.follow('copy', 'verify', 'cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('inside the window leaves the way back open', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    await migration.finish('rollback');
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
  });

  it('is followed by one that looks at everything anew', async () => {
    const migration = await failing(await migrationAt('window-verified'));
    await migration.follow('copy', 'verify');
    expect((await shown(migration)).report?.facts.isPassed).toBe(true);
  });
});
