// A backup beside other snapshots, late writes and a backend that counts otherwise.
import { describe, expect, it } from 'vitest';
import { testUserOf } from '../../../../lib/migration/ports/memory-backend.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { manifestOf } from '../../../support/migration/holdings.ts';
import { createMigration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { point } from '../../../support/vector-stores.ts';

describe('a backup', () => {
  it('counts what users wrote up to the snapshot, and not what the run itself wrote', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await migration.start();
    await migration.follow('preflight');
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
    await migration.follow('preflight', 'backup');
    const { snapshot } = await manifestOf(migration);
    expect(snapshot.name).not.toBe(others?.name);
    expect(await vectors.listSnapshots(SOURCE)).toEqual([others]);
  });

  it('asks for its snapshot soon at first, and less often the longer it takes', async () => {
    const migration = await migrationAt('preflighted');
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
