// The deployed definition of the state machine, when steps fail
import { describe, expect, it } from 'vitest';
import { Refusal, RetryableFailure } from '../../../lib/migration/refusals.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { changeServices, onRequest } from '../support/changed-services.ts';
import { computeFingerprint, deleteFirstPoint } from '../support/collections.ts';
import { createMigration, RUN } from '../support/migration.ts';
import { LEASE_MS } from '../support/run-table.ts';
import { approveWhenAsked, execute } from '../support/state-machine.ts';

describe('the state machine', () => {
  it('repeats a window in which users may already be on the new version', async () => {
    const migration = await createMigration();
    await migration.start();
    let requests = 0;
    const refusing = onRequest(migration, 'open-writes', async () => {
      requests += 1;
      if (requests === 1) throw new Refusal('RefusedByService', 'The webhook answered 404.');
    });
    const { tasks, failure } = await execute(migration, {
      services: changeServices(migration.services, refusing),
      onTask: approveWhenAsked(migration),
    });
    expect([failure, tasks.at(-1)]).toEqual([undefined, 'ReadStatus']);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    expect(migration.operator.actions).not.toContain('deploy-old');
  });

  it('copies what has changed and opens the next window when started after a rollback', async () => {
    const migration = await createMigration();
    await migration.start();
    await execute(migration, { onTask: approveWhenAsked(migration) });
    await migration.finish('rollback');
    await deleteFirstPoint(migration, SOURCE);
    const changed = await computeFingerprint(migration.services.vectors, SOURCE);
    const { tasks, failure } = await execute(migration, { onTask: approveWhenAsked(migration) });
    expect([tasks.slice(0, 2), failure]).toEqual([['ReadStatus', 'Copy'], undefined]);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    expect(await computeFingerprint(migration.services.vectors, migration.target)).toEqual(changed);
  });

  it('retries a step whose service was unreachable for a moment', async () => {
    const migration = await createMigration();
    await migration.start();
    const { vectors } = migration.services;
    let calls = 0;
    const fetchVersion = async () => {
      calls += 1;
      if (calls < 3) throw new RetryableFailure('RetryableUnavailable', 'Not yet.');
      return await vectors.fetchVersion();
    };
    const { tasks, failure } = await execute(migration, {
      services: changeServices(migration.services, { vectors: { fetchVersion } }),
      onTask: approveWhenAsked(migration),
    });
    expect(failure).toBeUndefined();
    expect(tasks.join(' ')).toContain('Backup Backup Backup');
  });

  it.each(['Copy', 'Cutover'])(
    'waits longer than the lease of a %s that died',
    async (killedState) => {
      const migration = await createMigration();
      await migration.start();
      const approve = approveWhenAsked(migration);
      let hasDied = false;
      const { tasks, failure } = await execute(migration, {
        onTask: async (state) => {
          await approve(state);
          if (state !== killedState || hasDied) return;
          hasDied = true;
          await migration.lock.take(RUN);
          throw Object.assign(new Error('Task timed out'), { name: 'Sandbox.Timedout' });
        },
      });
      expect(failure).toBeUndefined();
      // Five seconds pass on the clock before each task.
      const attempts = tasks.filter((state) => state === killedState).length;
      expect(attempts).toBeGreaterThanOrEqual(LEASE_MS / 5_000);
    },
  );
});
