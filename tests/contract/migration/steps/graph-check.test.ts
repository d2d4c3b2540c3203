// What the preflight asks of the graph: everything that its dump will need, before anything is built.

import getPort from 'get-port';
import { describe, expect, it } from 'vitest';
import { openNeo4j } from '../../../../lib/migration/adapters/neo4j.ts';
import type { GraphSource } from '../../../../lib/migration/graph/graph-store.ts';
import { Refusal, RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import { RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';

async function preflightOver(change: (graph: GraphSource) => GraphSource) {
  const migration = await migrationAt('started');
  const spoken = { ...migration.services, graph: change(migration.graph) };
  return { migration, attempt: migration.finish('preflight', {}, spoken) };
}

describe('the graph', () => {
  it('is told by version, edition and size', async () => {
    const migration = await migrationAt('preflighted');
    const reference = (await migration.runs.read(RUN)).evidence['preflight-report'];
    if (!reference) throw new Error('No report');
    expect(await readReport(migration.services, reference)).toMatchObject({
      graph: { version: '5.26.0', edition: 'sandbox', nodes: 2, relationships: 1, rules: 1 },
    });
  });

  it('that nobody serves is refused by name and at once', async () => {
    const port = await getPort();
    const url = `bolt://127.0.0.1:${port}`;
    await using graph = openNeo4j({ url, user: 'neo4j', password: '', patienceMs: 0 });
    const { migration, attempt } = await preflightOver(() => graph);
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    await expect(attempt).rejects.toThrow(/no-graph/);
    expect((await migration.runs.read(RUN)).phase).toBe('started');
  });

  const failing = async (error: Error): Promise<never> => {
    throw error;
  };

  it.each(['server', 'size', 'position', 'schema'] as const)(
    'that does not let its %s be read is refused',
    async (part) => {
      const error = new Refusal('RefusedGraph', 'Neo.ClientError.Procedure.ProcedureNotFound');
      const { attempt } = await preflightOver((graph) => ({
        ...graph,
        [part]: () => failing(error),
      }));
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
      await expect(attempt).rejects.toThrow(/ProcedureNotFound/);
    },
  );

  it.each(['nodes', 'relationships'] as const)(
    'whose %s cannot be read is refused',
    async (part) => {
      const { attempt } = await preflightOver((graph) => ({
        ...graph,
        // biome-ignore lint/correctness/useYield: it fails before its first row
        async *[part]() {
          throw new Refusal('RefusedGraph', 'Neo.ClientError.Statement.SyntaxError');
        },
      }));
      await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
    },
  );

  it('of which one node is enough to know that they can be read', async () => {
    let read = 0;
    const { attempt } = await preflightOver((graph) => ({
      ...graph,
      async *nodes() {
        for await (const node of graph.nodes()) {
          read += 1;
          yield node;
        }
      },
    }));
    await attempt;
    expect(read).toBe(1);
  });

  it('that refuses the credentials is told so', async () => {
    const error = new Refusal('RefusedCredentials', 'Neo.ClientError.Security.Unauthorized');
    const { attempt } = await preflightOver((graph) => ({
      ...graph,
      server: () => failing(error),
    }));
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
  });

  it('that is gone is told beside whatever else is in the way', async () => {
    const migration = await migrationAt('started', {}, { sourceCollection: 'nothing' });
    const server = () =>
      failing(new RetryableFailure('RetryableUnavailable', 'ServiceUnavailable'));
    const spoken = { ...migration.services, graph: { ...migration.graph, server } };
    const attempt = migration.finish('preflight', {}, spoken);
    await expect(attempt).rejects.toThrow(/Graph store: ServiceUnavailable/);
    await expect(attempt).rejects.toThrow(/Collection names: There is no collection nothing/);
  });
});
