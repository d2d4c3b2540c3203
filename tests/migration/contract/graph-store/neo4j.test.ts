// Neo4j passes the contracts of graphs and dumps (needs NEO4J_URL, which `npm run test:real` sets).
import { expect, test } from 'vitest';
import { restoreGraph } from '../../../../cli/migration/restore-graph/restore.ts';
import { newRun } from '../../../../lib/migration/runs/run.ts';
import { runChecks } from '../../../../lib/migration/steps/prerequisites.ts';
import { GRAPH_STORE } from '../../../../lib/migration/steps/service-checks.ts';
import { createSandboxGraph } from '../../../../sandbox/graph.ts';
import { openArtifactFolder } from '../../support/artifact-folder.ts';
import { DUMP_PREFIX, dump, fillWithSample } from '../../support/filled-graph.ts';
import { SAMPLE_NODES } from '../../support/graph-samples.ts';
import { useNeo4j } from '../../support/neo4j.ts';
import { PLAN } from '../../support/run-table.ts';
import { describeGraphDump } from './graph-dump.ts';
import { describeGraphStore } from './graph-store.ts';

const { NEO4J_URL } = process.env;

if (NEO4J_URL) describeNeo4j(NEO4J_URL);
else test.skip('Neo4j, which `npm run test:real` starts a server for', () => {});

// All tests of Neo4j are in one file, because they share one graph.
function describeNeo4j(url: string): void {
  const { openEmpty, run } = useNeo4j(url);
  describeGraphStore('Neo4j', openEmpty);
  describeGraphDump('Neo4j', openEmpty);

  test('A restore into Neo4j that is killed while it removes its marks can be resumed', async () => {
    const { artifacts } = await openArtifactFolder();
    await dump(await fillWithSample(createSandboxGraph()), artifacts);
    const target = await openEmpty();
    const killed = { ...target, finishRestore: () => Promise.reject(new Error('killed')) };
    const options = { artifacts, prefix: DUMP_PREFIX };
    await expect(restoreGraph({ ...options, target: killed })).rejects.toThrow('killed');
    await run('CREATE CONSTRAINT _restore_finishing FOR (n:_Restore) REQUIRE n.x IS UNIQUE');
    await run('MATCH (n:_Restore:city) REMOVE n:_Restore, n._restoreId');
    expect(await target.readRestoreState()).toBe('finishing');
    const { differences } = await restoreGraph({ ...options, target });
    expect(differences).toEqual([]);
    expect(await target.readRestoreState()).toBe('none');
  });

  test('An inspection of Neo4j finds everything that a dump needs', async () => {
    const graph = await fillWithSample(await openEmpty());
    const migrationRun = newRun({ runId: 'run-a', plan: PLAN, evidence: {} }, new Date());
    const context = { services: { graph }, run: migrationRun, mayWrite: false };
    expect(await runChecks([GRAPH_STORE], context)).toMatchObject([
      { problems: [], facts: { edition: 'community', nodes: SAMPLE_NODES.length } },
    ]);
  });

  test('A dump of Neo4j is refused if the graph contains a value that the driver cannot read', async () => {
    const { artifacts } = await openArtifactFolder();
    const source = await openEmpty();
    await run("CREATE (:Far {at: datetime('+300000-10-27T02:30:00[Europe/Amsterdam]')})");
    await expect(dump(source, artifacts)).rejects.toThrow(
      expect.objectContaining({ name: 'RefusedByService' }),
    );
  });
}
