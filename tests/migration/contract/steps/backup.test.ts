// What a backup leaves: exact counts, a snapshot that is proved to restore, a dump of the graph that is exact where it counts,
// and a manifest that comes last.
import { describe, expect, it } from 'vitest';
import { userDigest } from '../../../../lib/migration/points.ts';
import { readManifest } from '../../../../lib/migration/runs/reports.ts';
import { readUserCounts } from '../../../../lib/migration/user-counts.ts';
import { ofUser } from '../../../../sandbox/memory-backend/memory-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { manifestOf } from '../../support/holdings.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { migrationAt } from '../../support/prepared.ts';
import { named } from '../../support/refused.ts';

describe('a backup', () => {
  it('records every user exactly, and none by name', async () => {
    const migration = await migrationAt('backed-up');
    const { services } = migration;
    const manifest = await manifestOf(migration);
    expect(manifest.counts.facts).toMatchObject({ points: 60, users: 7 });
    const lines = readUserCounts(services.artifacts, manifest.counts);
    const counts = new Map(await Array.fromAsync(lines, ({ user, points }) => [user, points]));
    for (let n = 0; n < 7; n += 1) {
      const exact = await services.vectors.count(SOURCE, ofUser(`user-${n}`));
      expect(counts.get(userDigest(`user-${n}`))).toBe(exact);
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

  it.each([
    ['backup', 'backed-up'],
    ['cutover', 'copied'],
  ] as const)('a graph that it has is missed by no later %s', async (step, point) => {
    const migration = await migrationAt(point);
    const attempt = migration.finish(step, {}, { graph: undefined });
    await expect(attempt).rejects.toEqual(named('RefusedSetting', 'NEO4J_URL is not set'));
    expect((await migration.runs.read(RUN)).phase).toBe(point);
    expect((await manifestOf(migration)).graph.kind).toBe('exact');
  });

  it('frees the space of its snapshot before the restore test, and removes none that is made after that', async () => {
    const migration = await migrationAt('checked');
    const { vectors } = migration.services;
    const listed: unknown[] = [];
    const uploadSnapshot: typeof vectors.uploadSnapshot = async (...upload) => {
      listed.push(...(await vectors.listSnapshots(SOURCE)));
      await makeAnother(migration);
      await vectors.uploadSnapshot(...upload);
    };
    await migration.finish('backup', {}, { vectors: { uploadSnapshot } });
    expect(listed).toEqual([]);
    expect(await vectors.listSnapshots(SOURCE)).toHaveLength(1);
  });

  it('removes no other snapshot when it is killed after it has removed its own', async () => {
    const migration = await migrationAt('checked', { snapshotPartBytes: 1_000_000 });
    const { vectors } = migration.services;
    const deleteSnapshot: typeof vectors.deleteSnapshot = async (...names) => {
      await vectors.deleteSnapshot(...names);
      await makeAnother(migration);
      throw new Error('Killed');
    };
    const killed = migration.finish('backup', {}, { vectors: { deleteSnapshot } });
    await expect(killed).rejects.toThrow('Killed');
    await migration.finish('backup');
    expect(await vectors.listSnapshots(SOURCE)).toHaveLength(1);
  });

  it('is a dry run without execute', async () => {
    const migration = await migrationAt('checked');
    const before = await migration.runs.read(RUN);
    expect(await migration.invoke('backup', { execute: false })).toMatchObject({
      dryRun: true,
      forecast: { collection: SOURCE, points: 60 },
    });
    expect(await migration.runs.read(RUN)).toEqual(before);
    expect(await migration.services.vectors.listSnapshots(SOURCE)).toEqual([]);
  });
});

/** Another program does, so soon that it could be the run's own by its name. */
async function makeAnother(migration: Migration): Promise<void> {
  migration.pass(2_000);
  await migration.services.vectors.startSnapshot(SOURCE);
  await migration.qdrant.idle();
}

/** Somebody writes whenever the graph has been read through. */
function withBusyGraph({ graph }: Migration) {
  async function* nodes() {
    yield* graph.nodes();
    graph.addNode({ labels: ['person'], properties: { name: 'late' } });
  }
  return { graph: { nodes } };
}

describe('the backup of the graph', () => {
  it('is a dump that can be read back, kept as long as the snapshot', async () => {
    const migration = await migrationAt('live');
    const { services, runs } = migration;
    const { graph, snapshot } = await readManifest(services, await runs.read(RUN));
    expect(graph).toMatchObject({ kind: 'exact', nodes: 2, relationships: 1 });
    const day = new Date(migration.clock().getTime() + 30 * 86_400_000);
    for (const prefix of [graph.prefix, snapshot.parts.prefix]) {
      const kept = await Array.fromAsync(services.artifacts.list(prefix));
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.map(({ retainUntil }) => retainUntil)).toEqual(kept.map(() => day));
    }
  });

  it('says before the window when somebody wrote meanwhile', async () => {
    const migration = await migrationAt('checked');
    await migration.finish('backup', {}, withBusyGraph(migration));
    const run = await migration.runs.read(RUN);
    expect(run.evidence['backup-manifest']?.facts.graph).toBe('drifted');
  });

  it('is left out where the plan says so', async () => {
    const migration = await migrationAt(
      'backed-up',
      { hasGraph: false },
      { accepts: ['no-graph'] },
    );
    const run = await migration.runs.read(RUN);
    expect(run.evidence['backup-manifest']?.facts.graph).toBe('none');
  });
});
