// A switch recovers from a store or a command that fails half-way, and loses no user's writes.
import { describe, expect, it } from 'vitest';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { restoredCollectionOf } from '../../../../lib/migration/runs/run-names.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull, oneInEvery } from '../../../shared/support/quick-cases.ts';
import { changeServices, onRequest } from '../../support/changed-services.ts';
import { emptyCollection, LAYOUT, writeToNew, writeToOld } from '../../support/collections.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { LEASE_MS, REPORT } from '../../support/run-table.ts';

const DAY_MS = 86_400_000;

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

/** Makes the window fail after the new version was deployed. */
async function failCutover(migration: Migration): Promise<void> {
  const isGraphDeprecated = async () => false;
  const attempt = migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
  await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion'));
}

async function hasText({ services }: Migration, name: string, text: string): Promise<boolean> {
  const { points } = await services.vectors.scroll(name, { limit: 999 });
  return points.some(({ payload }) => payload.includes(text));
}

describe('a write that the store refuses once with 503 is carried over on the retry', () => {
  /** Refuses the write once. The step must not conclude that a user created and deleted the memory. */
  function failUpsertOnce({ services: { vectors } }: Migration, name: string) {
    let isDue = true;
    const upsert: typeof vectors.upsert = async (collection, points, mode, filter) => {
      const isRefused = isDue && collection === name && mode === 'insert_only';
      if (isRefused) isDue = false;
      const why = 'The store answered 503.';
      if (isRefused) throw new RetryableFailure('RetryableUnavailable', why, { code: 503 });
      await vectors.upsert(collection, points, mode, filter);
    };
    return { upsert };
  }

  async function finishTwice(
    migration: Migration,
    ...[step, input, changes]: Parameters<Migration['finish']>
  ): Promise<void> {
    const first = migration.finish(step, input, changes);
    await expect(first).rejects.toEqual(failureNamed('RetryableUnavailable'));
    await migration.finish(step, input, changes);
  }

  it('in a cutover', async () => {
    const migration = await createMigrationAt('equal');
    let isDue = true;
    const writing = onRequest(migration, 'open-writes', async () => {
      if (isDue) await writeToOld(migration, 'From a request that outlasted the freeze');
      isDue = false;
    });
    const vectors = failUpsertOnce(migration, migration.target);
    await finishTwice(migration, 'cutover', {}, { ...writing, vectors });
    expect(await hasText(migration, migration.target, 'outlasted the freeze')).toBe(true);
  });

  it('in a rollback', async () => {
    const migration = await createMigrationAt('equal');
    await failCutover(migration);
    await writeToNew(migration, 'An early write');
    const vectors = failUpsertOnce(migration, SOURCE);
    await finishTwice(migration, 'rollback', {}, { vectors });
    expect(await hasText(migration, SOURCE, 'An early write')).toBe(true);
  });

  itInFull('in a copy between two windows', async () => {
    const migration = await createMigrationAt('live');
    await migration.finish('rollback');
    await writeToNew(migration, 'By a worker that was not stopped');
    const vectors = failUpsertOnce(migration, SOURCE);
    await finishTwice(migration, 'copy', {}, { vectors });
    for (const name of [SOURCE, migration.target]) {
      expect(await hasText(migration, name, 'was not stopped')).toBe(true);
    }
  });
});

describe('a rollback', () => {
  it('in place does not open writes on a collection that was emptied after the old version was deployed', async () => {
    const migration = await createMigrationAt('live', { isInPlace: true }, { inPlace: true });
    const { actions } = migration.operator;
    const earlierActionCount = actions.length;
    const health = async () => {
      await emptyCollection(migration, SOURCE);
      return await migration.services.backend.health();
    };
    const attempt = migration.finish('rollback', {}, { backend: { health } });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
    expect(actions.slice(earlierActionCount)).not.toContain('open-writes');
    expect(await readPhase(migration)).toBe('switching-back');
  });

  it.each(oneInEvery(2, ['asItWas', 'toSnapshot'] as const))(
    'restores the snapshot again if the restored collection was deleted: %s',
    async (option) => {
      const migration = await createMigrationAt('live');
      const { services, runs } = migration;
      await services.vectors.deleteCollection(SOURCE);
      const restored = restoredCollectionOf(await runs.read(RUN));
      let isDue = true;
      const changes = onRequest(migration, 'deploy-old', async () => {
        if (isDue) await services.vectors.deleteCollection(restored);
        isDue = false;
      });
      const attempt = migration.finish('rollback', { [option]: true }, changes);
      await expect(attempt).rejects.toEqual(failureNamed('RefusedNothingToReturnTo'));
      await migration.finish('rollback', { [option]: true }, changes);
      expect(await readPhase(migration)).toBe('copied');
      expect(await services.vectors.count(restored)).toBe(60);
    },
  );

  it.each([
    ['which users worked on', (migration: Migration) => migration.follow('cutover')],
    ['which users never worked on', failCutover],
  ])(
    'ends even if the new collection, %s, cannot be read once users work on the old one',
    async (_, endWindow) => {
      const migration = await createMigrationAt('equal');
      const { vectors } = migration.services;
      await endWindow(migration);
      let isBroken = false;
      const scroll: typeof vectors.scroll = async (name, request) => {
        if (isBroken && name === migration.target)
          throw new RetryableFailure('RetryableUnavailable', 'scroll: 500.', { code: 500 });
        return await vectors.scroll(name, request);
      };
      const breaking = onRequest(migration, 'open-writes', async () => {
        isBroken = true;
      });
      await migration.finish('rollback', {}, { vectors: { scroll }, ...breaking });
      const { takesNoWindow } = await migration.runs.read(RUN);
      expect(takesNoWindow).toMatch(/has writes that were not carried over/);
    },
  );
});

it('a cutover that was killed after the final check, and whose rollback is refused, can be completed', async () => {
  const migration = await createMigrationAt('equal');
  const { runs } = migration;
  let isDead = false;
  const write: typeof runs.write = async (lease, run) => {
    await runs.write(lease, run);
    isDead = run.window?.openedAt !== undefined;
  };
  const saveCheckpoint: typeof runs.saveCheckpoint = async (...args) => {
    if (isDead) throw new RetryableFailure('RetryableUnavailable', 'Killed');
    await runs.saveCheckpoint(...args);
  };
  const killed = migration.finish('cutover', {}, { runs: { write, saveCheckpoint } });
  await expect(killed).rejects.toThrow('Killed');
  const refusing = onRequest(migration, 'freeze', () => {
    throw new Refusal('RefusedByService', 'The webhook answered 400.');
  });
  await expect(migration.finish('rollback', {}, refusing)).rejects.toThrow('400');
  await writeToNew(migration, 'Written meanwhile');
  await migration.finish('cutover');
  expect(await readPhase(migration)).toBe('live');
});

it.each(oneInEvery(2, ['cutover', 'abort'] as const))(
  'a collection of another program under the upload name is not touched by %s',
  async (step) => {
    const migration = await createMigrationAt('equal', {}, { uploadAs: 'uploaded' });
    const { vectors } = migration.services;
    await failCutover(migration);
    await migration.finish('rollback');
    expect(await vectors.listCollections()).not.toContain('uploaded');
    await vectors.createCollection('uploaded', LAYOUT);
    await migration.finish('copy');
    const attempt = migration.finish(step);
    if (step === 'cutover') await expect(attempt).rejects.toEqual(failureNamed('RefusedNameTaken'));
    else await attempt;
    expect(await vectors.count('uploaded')).toBe(0);
  },
);

it('a lock that a killed watch left with an aborted run does not block the steps of other runs', async () => {
  const migration = await createMigrationAt('live');
  const { runs, lock, services } = migration;
  await migration.follow('rollback', 'abort');
  const { plan } = await runs.read(RUN);
  migration.advanceClock(31 * DAY_MS);
  let isDead = false;
  const write: typeof runs.write = async (lease, run) => {
    await runs.write(lease, run);
    isDead = true;
  };
  const release: typeof lock.release = async (...args) => {
    if (isDead) throw new Error('Killed');
    await lock.release(...args);
  };
  const killed = keepWatch(changeServices(services, { runs: { write }, lock: { release } }));
  await expect(killed).rejects.toThrow('Killed');
  expect(await lock.activeRun()).toBe(RUN);
  migration.advanceClock(LEASE_MS);
  const second = await runs.start('other-run', plan, REPORT);
  expect((await lock.take('other-run')).runId).toBe(second.runId);
});
