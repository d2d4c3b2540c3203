// What a backup leaves: exact counts, a snapshot that is proved to restore, and a manifest that comes last.
import { describe, expect, it } from 'vitest';
import { userDigest } from '../../../../lib/migration/points.ts';
import { testUserOf } from '../../../../lib/migration/ports/memory-backend.ts';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import type { Reference } from '../../../../lib/migration/runs/run.ts';
import { readUserCounts } from '../../../../lib/migration/user-counts.ts';
import { ofUser } from '../../../../local/sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { point } from '../../../support/vector-stores.ts';

interface Manifest {
  readonly counts: Reference;
  readonly snapshot: { readonly name: string; readonly size: number; readonly checksum: string };
  readonly parts: readonly { readonly artifact: string; readonly bytes: number }[];
  readonly sha256: string;
  readonly contents: { readonly points: number; readonly users: number };
}

async function backedUp(options: Parameters<typeof createMigration>[0] = {}) {
  const migration = await migrationAt('backed-up', options);
  return { ...migration, manifest: await manifestOf(migration) };
}

async function manifestOf({ runs, services }: Migration): Promise<Manifest> {
  const reference = (await runs.read(RUN)).evidence['backup-manifest'];
  if (!reference) throw new Error('No manifest');
  return (await readReport(services, reference)) as Manifest;
}

describe('a backup', () => {
  it('records every user exactly, and none by name', async () => {
    const { services, manifest } = await backedUp();
    expect(manifest.counts.facts).toMatchObject({
      ...{ points: 60, users: 7, witness: 'asked', asked: 7, disagreements: 0 },
    });
    const counts = await readUserCounts(services.artifacts, manifest.counts);
    for (let n = 0; n < 7; n += 1) {
      const exact = await services.vectors.count(SOURCE, ofUser(`user-${n}`));
      expect(counts.pointsOf(userDigest(`user-${n}`))).toBe(exact);
    }
    const list = await Array.fromAsync(services.artifacts.get(manifest.counts.artifact));
    expect(Buffer.concat(list).toString()).not.toMatch(/user-\d\b/);
  });

  it('reports where the backend counts otherwise, and goes by the store', async () => {
    const { manifest } = await backedUp({ statsCap: 5 });
    expect(manifest.counts.facts).toMatchObject({ points: 60, disagreements: 5 });
  });

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

  it('keeps the snapshot in parts, byte for byte, and has restored it once', async () => {
    const { services, manifest } = await backedUp({ snapshotPartBytes: 2_000 });
    const { snapshot, parts, sha256, contents } = manifest;
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(snapshot.size);
    expect(sha256).toBe(snapshot.checksum);
    expect(contents.points).toBe(60);
    expect(await services.vectors.listCollections()).toEqual([SOURCE]);
    expect(await services.vectors.listSnapshots(SOURCE)).toEqual([]);
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

  it('gives up on a snapshot that never comes', async () => {
    const migration = await migrationAt('preflighted');
    migration.qdrant.fault({
      on: /^POST .*\/snapshots\?wait=false/,
      does: { kind: 'answer', status: 202, body: '{"status":"accepted","time":0}' },
    });
    await expect(migration.finish('backup')).rejects.toEqual(named('RefusedSnapshot'));
  });

  it('is a dry run unless it is told otherwise', async () => {
    const migration = await migrationAt('preflighted');
    const before = await migration.runs.read(RUN);
    expect(await migration.invoke('backup', { execute: false })).toMatchObject({
      dryRun: true,
      forecast: { collection: SOURCE, points: 60 },
    });
    expect(await migration.runs.read(RUN)).toEqual(before);
    expect(await migration.services.vectors.listSnapshots(SOURCE)).toEqual([]);
  });
});
