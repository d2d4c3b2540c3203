// Results of a backup: exact counts, a snapshot that is proved to restore, a dump of the graph that is exact inside the
// window, and a manifest that is written last
import { describe, expect, it } from 'vitest';
import { digestUser } from '../../../../lib/migration/points.ts';
import { readManifest } from '../../../../lib/migration/runs/reports.ts';
import { filterByUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import {
  changeFirstPoint,
  deleteFirstPoint,
  emptyCollection,
  LAYOUT,
  readStoredManifest,
  writeToOld,
} from '../../support/collections.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { readUserCounts } from '../../support/user-counts.ts';

describe('a backup', () => {
  it('records the exact count of every user, without names', async () => {
    const migration = await createMigrationAt('backed-up');
    const { services } = migration;
    const manifest = await readStoredManifest(migration);
    expect(manifest.counts.facts).toMatchObject({ points: 60, users: 7 });
    const lines = readUserCounts(services.artifacts, manifest.counts);
    const counts = new Map(await Array.fromAsync(lines, ({ user, points }) => [user, points]));
    for (let n = 0; n < 7; n += 1) {
      const exact = await services.vectors.count(SOURCE, filterByUser(`user-${n}`));
      expect(counts.get(digestUser(`user-${n}`))).toBe(exact);
    }
    const list = await Array.fromAsync(services.artifacts.get(manifest.counts.artifact));
    expect(Buffer.concat(list).toString()).not.toMatch(/user-\d\b/);
  });

  it('keeps the snapshot in parts, byte for byte, and restores it once', async () => {
    const migration = await createMigrationAt('backed-up', { snapshotPartBytes: 2_000 });
    const { vectors } = migration.services;
    const { snapshot, contents } = await readStoredManifest(migration);
    expect(snapshot.parts.count).toBeGreaterThan(2);
    expect(snapshot.parts.bytes).toBe(snapshot.size);
    expect(snapshot.sha256).toBe(snapshot.checksum);
    expect(contents.points).toBe(60);
    expect(await vectors.listCollections()).toEqual([SOURCE]);
    expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
  });

  it.each([
    ['nothing', 60, 'lacks 60 of 60 compared points'],
    ['all but one point', 1, 'lacks 1 of 60 compared points'],
  ])(
    'is refused with the number of missing points if the store restores %s',
    async (_, lost, why) => {
      const migration = await createMigrationAt('checked');
      const { vectors } = migration.services;
      const damaged = changeOnceRestored(migration, (name) =>
        emptyCollection(migration, name, lost),
      );
      const attempt = migration.finish('backup', {}, damaged);
      await expect(attempt).rejects.toEqual(failureNamed('RefusedSnapshot', why));
      expect((await migration.runs.read(RUN)).phase).toBe('checked');
      expect(await vectors.listCollections()).toEqual([SOURCE]);
      await migration.finish('backup');
      expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
    },
  );

  it('is refused if the store restores a changed text', async () => {
    const migration = await createMigrationAt('checked');
    const damaged = changeOnceRestored(migration, (name) => changeFirstPoint(migration, name));
    const attempt = migration.finish('backup', {}, damaged);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedSnapshot', 'differs in 1'));
  });

  it('is refused for a collection with custom shard keys, which the store restores empty', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const { points } = await vectors.scroll(SOURCE, { limit: 999 });
    await vectors.deleteCollection(SOURCE);
    await vectors.createCollection(SOURCE, { ...LAYOUT, sharding_method: 'custom' });
    const withVectors = points.map(({ vector = '{}' as never, ...point }) => ({
      ...point,
      vector,
    }));
    await vectors.upsert(SOURCE, withVectors, 'upsert');
    await migration.start();
    const attempt = migration.finish('backup');
    await expect(attempt).rejects.toEqual(
      failureNamed('RefusedSnapshot', 'lacks 60 of 60 compared points'),
    );
  });

  it('is taken while users create, change and delete memories', async () => {
    const migration = await createMigrationAt('checked');
    const { vectors } = migration.services;
    const startSnapshot: typeof vectors.startSnapshot = async (...args) => {
      await writeToOld(migration, 'Before the snapshot');
      await deleteFirstPoint(migration, SOURCE);
      await vectors.startSnapshot(...args);
      await changeFirstPoint(migration, SOURCE);
      await writeToOld(migration, 'After the snapshot');
    };
    await migration.finish('backup', {}, { vectors: { startSnapshot } });
    expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
  });

  it.each([
    ['backup', 'backed-up'],
    ['cutover', 'copied'],
  ] as const)('requires the graph in every later %s', async (step, milestone) => {
    const migration = await createMigrationAt(milestone);
    const attempt = migration.finish(step, {}, { graph: undefined });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedSetting', 'NEO4J_URL is not set'));
    expect((await migration.runs.read(RUN)).phase).toBe(milestone);
    expect((await readStoredManifest(migration)).graph.kind).toBe('exact');
  });

  it('frees the space of its snapshot before the restore test, and removes no later snapshot', async () => {
    const migration = await createMigrationAt('checked');
    const { vectors } = migration.services;
    const listed: unknown[] = [];
    const uploadSnapshot: typeof vectors.uploadSnapshot = async (...upload) => {
      listed.push(...(await vectors.listSnapshots(SOURCE)));
      await createOtherSnapshot(migration);
      await vectors.uploadSnapshot(...upload);
    };
    await migration.finish('backup', {}, { vectors: { uploadSnapshot } });
    expect(listed).toEqual([]);
    expect(await vectors.listSnapshots(SOURCE)).toHaveLength(1);
  });

  it('removes no other snapshot if it was killed after it had removed its own', async () => {
    const migration = await createMigrationAt('checked', { snapshotPartBytes: 1_000_000 });
    const { vectors } = migration.services;
    const deleteSnapshot: typeof vectors.deleteSnapshot = async (...names) => {
      await vectors.deleteSnapshot(...names);
      await createOtherSnapshot(migration);
      throw new Error('Killed');
    };
    const killed = migration.finish('backup', {}, { vectors: { deleteSnapshot } });
    await expect(killed).rejects.toThrow('Killed');
    await migration.finish('backup');
    expect(await vectors.listSnapshots(SOURCE)).toHaveLength(1);
  });

  it('finishes even if it was killed after it had removed its list of digests', async () => {
    const migration = await createMigrationAt('checked');
    const { artifacts } = migration.services;
    const deleteAll: typeof artifacts.deleteAll = async (prefix) => {
      await artifacts.deleteAll(prefix);
      if (prefix.endsWith('-listed')) throw new Error('Killed');
    };
    const killed = migration.finish('backup', {}, { artifacts: { deleteAll } });
    await expect(killed).rejects.toThrow('Killed');
    await migration.finish('backup');
    expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
  });

  it('is a dry run without `execute`', async () => {
    const migration = await createMigrationAt('checked');
    const before = await migration.runs.read(RUN);
    expect(await migration.invoke('backup', { execute: false })).toMatchObject({
      dryRun: true,
      forecast: { collection: SOURCE, points: 60 },
    });
    expect(await migration.runs.read(RUN)).toEqual(before);
    expect(await migration.services.vectors.listSnapshots(SOURCE)).toEqual([]);
  });
});

/** Changes the restored collection once, before its points are counted. */
function changeOnceRestored(
  { services: { vectors } }: Migration,
  change: (name: string) => Promise<void>,
) {
  let isDue = true;
  const countRestoredPoints: typeof vectors.countRestoredPoints = async (name) => {
    const count = await vectors.countRestoredPoints(name);
    if (count === undefined || !isDue) return count;
    isDue = false;
    await change(name);
    return await vectors.countRestoredPoints(name);
  };
  return { vectors: { countRestoredPoints } };
}

/** Creates a snapshot as another program would, so soon that its name matches the run's request. */
async function createOtherSnapshot(migration: Migration): Promise<void> {
  migration.advanceClock(2_000);
  await migration.services.vectors.startSnapshot(SOURCE);
  await migration.qdrant.waitUntilIdle();
}

/** Writes to the graph whenever all its nodes have been read. */
function withBusyGraph({ graph }: Migration) {
  async function* streamNodes() {
    yield* graph.streamNodes();
    graph.addNode({ labels: ['person'], properties: { name: 'late' } });
  }
  return { graph: { streamNodes } };
}

describe('the backup of the graph', () => {
  it('is kept as long as the snapshot', async () => {
    const migration = await createMigrationAt('live');
    const { services, runs } = migration;
    const { graph, snapshot } = await readManifest(services, await runs.read(RUN));
    expect(graph).toMatchObject({ kind: 'exact', nodes: 2, relationships: 1 });
    const expectedEnd = new Date(migration.clock().getTime() + 30 * 86_400_000);
    for (const prefix of [graph.prefix, snapshot.parts.prefix]) {
      const stored = await Array.fromAsync(services.artifacts.list(prefix));
      expect(stored.length).toBeGreaterThan(0);
      expect(stored.map(({ retainUntil }) => retainUntil)).toEqual(stored.map(() => expectedEnd));
    }
  });

  it('that is taken before the window reports that the graph changed during the dump', async () => {
    const migration = await createMigrationAt('checked');
    await migration.finish('backup', {}, withBusyGraph(migration));
    const run = await migration.runs.read(RUN);
    expect(run.evidence['backup-manifest']?.facts.graph).toBe('drifted');
  });

  it('is omitted if the plan says so', async () => {
    const migration = await createMigrationAt(
      'backed-up',
      { hasGraph: false },
      { accepts: ['no-graph'] },
    );
    const run = await migration.runs.read(RUN);
    expect(run.evidence['backup-manifest']?.facts.graph).toBe('none');
  });
});
