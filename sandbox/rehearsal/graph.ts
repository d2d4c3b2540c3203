// The real graph of a rehearsal, if NEO4J_URL names one. The rehearsal fills an empty graph with a few nodes, and removes them
// at the end; on request, it only reads an existing graph.
import { randomUUID } from 'node:crypto';
import neo4j, { type Driver } from 'neo4j-driver';
import { openNeo4j } from '../../lib/migration/adapters/neo4j.ts';
import type { GraphSource } from '../../lib/migration/graph/graph-store.ts';
import { firstLine, UserError } from '../../lib/shared/user-error.ts';
import type { Resources } from '../../processes/resources.ts';

/** Prefix of the labels of all nodes that rehearsals create */
const LABEL_PREFIX = 'Rehearsed_';

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns undefined if no graph is named @throws UserError, which leaves the graph unchanged */
export async function openRehearsalGraph(options: {
  readonly environment: Environment;
  readonly resources: Resources;
  /** True to dump the existing contents, and write nothing. */
  readonly readsExisting: boolean;
}): Promise<GraphSource | undefined> {
  const { environment, resources, readsExisting } = options;
  const { NEO4J_URL: url, NEO4J_USER: user = 'neo4j', NEO4J_PASSWORD: password = '' } = environment;
  if (!url) return undefined;
  const graph = openNeo4j({ url, user, password, patienceMs: 2_000 });
  resources.onStop(async () => await graph[Symbol.asyncDispose]());
  const driver = neo4j.driver(url, neo4j.auth.basic(user, password), { telemetryDisabled: true });
  resources.onStop(() => driver.close());
  const { nodes } = await graph.readSize().catch((cause: unknown) => {
    throw new UserError(`The graph at NEO4J_URL cannot be used: ${firstLine(cause)}`, { cause });
  });
  if (readsExisting) return graph;
  if (nodes > 0) throw new UserError(await explainNotEmpty(driver, nodes));
  const label = `${LABEL_PREFIX}${randomUUID()}`;
  resources.onStop(() => runStatement(driver, `MATCH (n:\`${label}\`) DETACH DELETE n`));
  await runStatement(driver, createFillStatement(label));
  return graph;
}

async function explainNotEmpty(driver: Driver, nodes: number): Promise<string> {
  const { records } = await driver.executeQuery(
    'MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH $mark) RETURN DISTINCT labels(n)[0] AS label',
    { mark: LABEL_PREFIX },
  );
  const labels = records.map((record) => `\`${record.get('label')}\``);
  const leftoverReason = `contains nodes of another rehearsal: let it finish, or, if it was killed, delete the nodes labelled ${labels.join(', ')}`;
  const notEmptyReason = `is not empty (nodes: ${nodes}): a rehearsal needs an empty graph; "--existing-graph" dumps this one without writing to it`;
  return `The graph at NEO4J_URL ${labels.length > 0 ? leftoverReason : notEmptyReason}`;
}

async function runStatement(driver: Driver, statement: string): Promise<void> {
  await driver.executeQuery(statement);
}

// The nodes have every type of value that a dump must preserve: integers, points in space and time, lists, a soft deletion.
function createFillStatement(label: string): string {
  return `
    CREATE (ada:\`${label}\`:person {name: 'ada', user_id: 'user-1', mentions: 9007199254740993,
                                    born: date('1815-12-10'), scores: [1.0, 2.5]})
    CREATE (london:\`${label}\`:city {name: 'london', user_id: 'user-1',
                                     at: point({longitude: -0.12, latitude: 51.5})})
    CREATE (ada)-[:lives_in {valid: true, since: datetime('1835-07-08T10:00:00+01:00')}]->(london)
    CREATE (ada)-[:left {valid: false}]->(london)`;
}
