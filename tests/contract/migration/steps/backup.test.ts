// What a backup leaves: exact counts, a snapshot that is proved to restore, and a manifest that comes last.
import { describe, expect, it } from 'vitest';
import { userDigest } from '../../../../lib/migration/points.ts';
import { readUserCounts } from '../../../../lib/migration/user-counts.ts';
import { ofUser } from '../../../../local/sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../local/sandbox/world.ts';
import { manifestOf } from '../../../support/migration/manifest.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

describe('a backup', () => {
  it('records every user exactly, and none by name', async () => {
    const migration = await migrationAt('backed-up');
    const { services } = migration;
    const manifest = await manifestOf(migration);
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

  it('keeps the snapshot in parts, byte for byte, and has restored it once', async () => {
    const migration = await migrationAt('backed-up', { snapshotPartBytes: 2_000 });
    const { vectors } = migration.services;
    const { snapshot, contents } = await manifestOf(migration);
    expect(snapshot.parts.count).toBeGreaterThan(2);
    expect(snapshot.parts.bytes).toBe(snapshot.size);
    expect(snapshot.sha256).toBe(snapshot.checksum);
    expect(contents.points).toBe(60);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
    expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
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
