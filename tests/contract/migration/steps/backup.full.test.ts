// A backup beside other snapshots, late writes and a backend that counts otherwise.
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { manifestOf } from '../../../support/migration/holdings.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { point } from '../../../support/vector-stores.ts';

describe('a backup', () => {
  it('counts what users wrote up to the snapshot, and not what the run itself wrote', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await migration.start();
    const probe = JSON.stringify({ user_id: testUserOf(RUN), data: 'a late write of a chat' });
    await vectors.upsert(SOURCE, [point(1, probe, '[1,0,0,0,0,0,0,0]')], 'upsert');
    await migration.finish('backup');
    expect((await manifestOf(migration)).contents).toMatchObject({ points: 60, users: 7 });
  });

  it('does not mistake a snapshot that was there for its own, nor remove it', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await vectors.startSnapshot(SOURCE);
    await expect.poll(async () => (await vectors.listSnapshots(SOURCE)).length).toBe(1);
    const [others] = await vectors.listSnapshots(SOURCE);
    migration.pass(5_000);
    await migration.start();
    await migration.follow('backup');
    const { snapshot } = await manifestOf(migration);
    expect(snapshot.name).not.toBe(others?.name);
    expect(await vectors.listSnapshots(SOURCE)).toEqual([others]);
  });

  it('asks for its snapshot soon at first, and less often the longer it takes', async () => {
    const migration = await migrationAt('checked');
    migration.qdrant.fault({
      on: /^POST .*\/snapshots\?wait=false/,
      does: { kind: 'answer', status: 202, body: '{"status":"accepted","time":0}' },
    });
    const waits: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const result = await migration.invoke('backup');
      const seconds = result.dryRun ? Number.NaN : result.waitSeconds;
      waits.push(seconds);
      migration.pass(seconds * 1_000);
    }
    expect(waits[0]).toBe(1);
    expect(waits).toEqual(waits.toSorted((one, other) => one - other));
    expect(waits.at(-1)).toBe(5);
  });
});

describe('a request for a snapshot that the connection loses', () => {
  const lost = (on: RegExp, times: number) => ({ on, times, does: { kind: 'drop' as const } });
  const ASKS = /^POST .*\/snapshots\?wait=false/;

  const secondsSince = ({ clock }: Migration, begun: Date) =>
    (clock().getTime() - begun.getTime()) / 1_000;

  it('is sent again after a minute in which no snapshot has appeared', async () => {
    const migration = await migrationAt('frozen');
    const begun = migration.clock();
    migration.qdrant.fault(lost(ASKS, 1));
    await migration.reach('backed-up');
    expect(secondsSince(migration, begun)).toBeGreaterThanOrEqual(60);
    expect(secondsSince(migration, begun)).toBeLessThan(75);
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN }]);
  });

  it('is given up after ten minutes, and not when the window is over', async () => {
    const migration = await migrationAt('frozen');
    const begun = migration.clock();
    migration.qdrant.fault(lost(ASKS, 99));
    const attempt = migration.finish('cutover');
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot'));
    expect(secondsSince(migration, begun)).toBeGreaterThanOrEqual(600);
    expect(secondsSince(migration, begun)).toBeLessThan(675);
  });

  it.each(['before the second one', 'while the second one is used'])(
    'leaves no snapshot where the store had begun one, listed %s',
    async (when) => {
      const migration = await migrationAt('checked');
      const { vectors } = migration.services;
      let asked = 0;
      let isListed = false;
      const slow: Partial<typeof vectors> = {
        async startSnapshot(collection) {
          asked += 1;
          if (asked === 1) throw new RetryableFailure('RetryableUnavailable', 'Reset.');
          await vectors.startSnapshot(collection);
          await migration.qdrant.idle();
          if (when.startsWith('while')) return;
          await makeLate();
        },
        async uploadSnapshot(...args) {
          await makeLate();
          await vectors.uploadSnapshot(...args);
        },
      };
      const makeLate = async () => {
        if (isListed) return;
        isListed = true;
        migration.pass(2_000);
        await vectors.startSnapshot(SOURCE);
        await migration.qdrant.idle();
        // Once the second one is kept, the store has it no more.
        const listed = when.startsWith('while') ? 1 : 2;
        expect(await vectors.listSnapshots(SOURCE)).toHaveLength(listed);
      };
      await migration.finish('backup', {}, { vectors: slow });
      expect(asked).toBe(2);
      expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
    },
  );
});
