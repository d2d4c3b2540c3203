// What a backup leaves: exact counts, a snapshot that is proved to restore, and a manifest that comes last.
import { describe, expect, it } from 'vitest';
import type { CountRecord } from '../../../../lib/migration/proof/count-record.ts';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import type { Reference } from '../../../../lib/migration/runs/run.ts';
import { ofUser } from '../../../../local/sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

interface Manifest {
  readonly counts: Reference;
  readonly snapshot: { readonly name: string; readonly size: number; readonly checksum: string };
  readonly parts: readonly { readonly artifact: string; readonly bytes: number }[];
  readonly sha256: string;
  readonly drilled: { readonly points: number };
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
  it('records every user exactly', async () => {
    const { services, manifest } = await backedUp();
    const counts = (await readReport(services, manifest.counts)) as CountRecord;
    expect(counts.points).toBe(60);
    for (const { userId, points } of counts.users) {
      expect(points).toBe(await services.vectors.count(SOURCE, ofUser(userId)));
    }
    const sum = counts.users.reduce((sum, { points }) => sum + points, 0);
    expect(sum).toBe(60);
    expect(counts.disagreements).toEqual([]);
  });

  it('reports where the backend counts otherwise, and goes by the store', async () => {
    const { services, manifest } = await backedUp({ statsCap: 5 });
    const counts = (await readReport(services, manifest.counts)) as CountRecord;
    const capped = counts.users.filter(({ points }) => points > 5);
    expect(capped.length).toBeGreaterThan(0);
    expect(counts.disagreements).toEqual(capped.map((user) => ({ ...user, backend: 5 })));
  });

  it('keeps the snapshot in parts, byte for byte, and has restored it once', async () => {
    const { services, manifest } = await backedUp({ snapshotPartBytes: 2_000 });
    const { snapshot, parts, sha256, drilled } = manifest;
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(snapshot.size);
    expect(sha256).toBe(snapshot.checksum);
    expect(drilled.points).toBe(60);
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

  it('that was written to in between is not proved, and leaves no debris', async () => {
    const migration = await migrationAt('preflighted');
    const { vectors } = migration.services;
    await migration.invoke('backup', { execute: false });
    migration.qdrant.fault({
      on: /^POST .*\/snapshots\?wait=false/,
      when: 'before',
      does: { kind: 'answer', status: 202, body: '{"status":"accepted","time":0}' },
    });
    const first = await migration.invoke('backup');
    expect(first).toMatchObject({ done: false });
    const page = await vectors.scroll(SOURCE, { limit: 1 });
    await vectors.deletePoints(SOURCE, { ids: page.points.map(({ id }) => id) });
    await vectors.startSnapshot(SOURCE);
    await expect(migration.finish('backup')).rejects.toEqual(named('RefusedBackupUnproved'));
    expect(await vectors.listCollections()).toEqual([SOURCE]);
    expect((await migration.runs.read(RUN)).phase).toBe('checked');
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
