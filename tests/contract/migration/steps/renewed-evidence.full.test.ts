// A step goes on from where it was only while what it rests on is what it was; else it begins anew.
import { expect, it } from 'vitest';
import { runStep, type Step } from '../../../../lib/migration/runs/step.ts';
import { startOldVersion } from '../../../../local/sandbox/memory-backend/old-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { type Migration, RUN, STEPS } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

/** Invokes a step whose time is up after so many pieces of work. */
async function begin({ services }: Migration, step: Step, pieces: number): Promise<void> {
  let left = pieces;
  const timeLeftMs = () => {
    left -= 1;
    return left >= 0 ? 600_000 : 0;
  };
  const result = await runStep(step, services, {
    payload: { runId: RUN, execute: true },
    timeLeftMs,
  });
  expect(result).toMatchObject({ done: false });
}

it('a copy begun into one collection does not go on in the middle of its successor', async () => {
  const migration = await migrationAt('rebuilt', { memories: 600, hasPreview: false });
  await begin(migration, STEPS.copy, 0);
  await migration.follow('rebuild', 'copy');
  expect(await migration.services.vectors.count(migration.target)).toBe(600);
});

it('a backup begun before the window is none of what was frozen', async () => {
  const migration = await migrationAt('backed-up');
  const { vectors, clock } = migration.services;
  await begin(migration, STEPS.backup, 1);
  await migration.follow('rebuild', 'copy');
  const settings = { store: vectors, collection: SOURCE, dimensions: 8, now: clock };
  await (await startOldVersion(settings)).add('user-1', 'Ada has bought a boat');
  await migration.follow('copy', 'verify');
  await migration.openWindow();
  await migration.follow('freeze', 'backup');
  const { facts } = (await migration.runs.read(RUN)).evidence['backup-manifest'] ?? {};
  expect(facts?.points).toBe(await vectors.count(SOURCE));
});
