// A run that release 0.1.0 took live, from the record that it stored: its rollback period continues, and it can be rolled back.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { computeFingerprint } from '../../support/collections.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { watchUntilDone } from '../../support/watching.ts';

const DAY_MS = 86_400_000;

/** Written by release 0.1.0 after a migration of the same 60 memories */
const items = JSON.parse(readFileSync(join(import.meta.dirname, 'live-run-of-0.1.0.json'), 'utf8'));

async function createReleased(): Promise<Migration> {
  const { world, artifacts } = await (await createMigrationAt('live')).image();
  const time = Date.parse('2026-03-02T09:00:00Z');
  return await createMigration({}, { world, artifacts, table: { items, time } });
}

it('shows the run of release 0.1.0 as live until its recorded end', async () => {
  const { services } = await createReleased();
  expect(await readStatus(services)).toMatchObject({
    phase: 'live',
    approvedBy: 'ada',
    openedAt: '2026-03-01T09:01:04.000Z',
    retention: { until: '2026-03-31T09:01:04.000Z', isOver: false },
    history: [{ phase: 'checked' }, { phase: 'live', at: '2026-03-01T09:01:04.000Z' }],
  });
});

it('rolls back the run of release 0.1.0 with what users wrote since', async () => {
  const migration = await createReleased();
  const { vectors, setting } = migration.services;
  const { points } = await vectors.scroll(migration.target, { limit: 1 });
  await vectors.deletePoints(migration.target, { ids: points.map(({ id }) => id) });
  const written = await computeFingerprint(vectors, migration.target);
  await migration.finish('rollback');
  expect((await migration.runs.read(RUN)).phase).toBe('copied');
  expect(await setting.read()).toBe(SOURCE);
  expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
});

it('closes the run of release 0.1.0 when its rollback period has ended', async () => {
  const migration = await createReleased();
  migration.advanceClock(30 * DAY_MS);
  await watchUntilDone(migration);
  const run = await migration.runs.read(RUN);
  expect(run).toMatchObject({ phase: 'closed', evidence: { 'cutover-report': {} } });
});
