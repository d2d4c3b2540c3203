// The Neo4j that NEO4J_URL names, emptied for every test. A graph that contains anything is left alone, unless an
// earlier run of the tests claimed the graph while it was empty.
import neo4j, { type Driver } from 'neo4j-driver';
import { afterAll, beforeAll } from 'vitest';
import {
  type Neo4jTarget,
  openNeo4jTarget,
} from '../../../cli/migration/restore-graph/neo4j-target.ts';

export interface Neo4jForTests {
  /** Empties the graph, which is the same one at every call. */
  openEmpty(): Promise<Neo4jTarget>;
  /** Runs Cypher without the adapter. */
  run(statement: string, parameters?: object): Promise<Record<string, unknown>[]>;
}

const CLAIM = 'emptied_by_tests';

/** Opens the graph for the tests of the calling file, and empties it after them. */
export function useNeo4j(url: string): Neo4jForTests {
  const { NEO4J_USER: user = 'neo4j', NEO4J_PASSWORD: password = '' } = process.env;
  let driver: Driver;
  let graph: Neo4jTarget;
  let isClaimed = false;

  beforeAll(async () => {
    driver = neo4j.driver(url, neo4j.auth.basic(user, password));
    graph = openNeo4jTarget({ url, user, password });
    await claim();
  });

  afterAll(async () => {
    if (isClaimed) await empty();
    await graph[Symbol.asyncDispose]();
    await driver.close();
  });

  async function run(statement: string, parameters?: object) {
    const session = driver.session();
    try {
      const { records } = await session.run(statement, parameters);
      return records.map((record) => record.toObject());
    } finally {
      await session.close();
    }
  }

  async function claim(): Promise<void> {
    const claimed = await run(`SHOW CONSTRAINTS YIELD name WHERE name = '${CLAIM}'`);
    const { nodes } = await graph.readSize();
    if (claimed.length === 0 && nodes > 0) {
      throw new Error(`The graph at ${url} contains ${nodes} nodes: these tests would delete them`);
    }
    await run(`CREATE CONSTRAINT ${CLAIM} IF NOT EXISTS FOR (n:${CLAIM}) REQUIRE n.id IS UNIQUE`);
    isClaimed = true;
  }

  async function empty(): Promise<void> {
    await run('MATCH (n) DETACH DELETE n');
    for (const { name } of await run('SHOW CONSTRAINTS YIELD name')) {
      if (name !== CLAIM) await run(`DROP CONSTRAINT \`${name}\` IF EXISTS`);
    }
    const indexes = 'SHOW INDEXES YIELD name, type, owningConstraint';
    for (const { name } of await run(
      `${indexes} WHERE owningConstraint IS NULL AND type <> 'LOOKUP'`,
    )) {
      await run(`DROP INDEX \`${name}\` IF EXISTS`);
    }
  }

  async function openEmpty(): Promise<Neo4jTarget> {
    await empty();
    return graph;
  }

  return { openEmpty, run };
}
