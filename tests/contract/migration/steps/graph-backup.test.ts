// The graph is a part of the backup: exact where it counts, and never left out in silence.
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../lib/migration/runs/reports.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

/** Somebody writes whenever the graph has been read through. */
function withBusyGraph({ services, graph }: Migration) {
  const busy = {
    ...graph,
    async *nodes() {
      yield* graph.nodes();
      graph.addNode({ labels: ['person'], properties: { name: 'late' } });
    },
  };
  return { ...services, graph: busy };
}

describe('the backup of the graph', () => {
  it('is a dump that can be read back, kept as long as the snapshot', async () => {
    const migration = await migrationAt('live');
    const { services, runs } = migration;
    const { graph } = await readManifest(services, await runs.read(RUN));
    expect(graph).toMatchObject({ kind: 'exact', nodes: 2, relationships: 1 });
    const kept = await Array.fromAsync(services.artifacts.list(graph.prefix));
    expect(kept.length).toBeGreaterThan(2);
    const day = migration.clock().getTime() + 30 * 86_400_000;
    expect(kept.map(({ retainUntil }) => retainUntil?.getTime())).toEqual(kept.map(() => day));
  });

  it('says before the window when somebody wrote meanwhile', async () => {
    const migration = await migrationAt('preflighted');
    await migration.finish('backup', {}, withBusyGraph(migration));
    const run = await migration.runs.read(RUN);
    expect(run.evidence['backup-manifest']?.facts.graph).toBe('drifted');
  });

  it('is refused inside the window when somebody still writes', async () => {
    const migration = await migrationAt('frozen');
    const attempt = migration.finish('backup', {}, withBusyGraph(migration));
    await expect(attempt).rejects.toEqual(named('RefusedNotFrozen'));
    expect((await migration.runs.read(RUN)).phase).toBe('frozen');
  });

  it('is not left out unless the plan says so', async () => {
    const migration = await migrationAt('started', { hasGraph: false });
    await expect(migration.invoke('preflight')).rejects.toEqual(named('RefusedPrerequisites'));
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
