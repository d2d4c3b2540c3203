// A graph in Neo4j, over Bolt by the official driver.
import neo4j, { type Integer } from 'neo4j-driver';
import type {
  GraphNode,
  GraphRelationship,
  GraphServer,
  GraphSize,
  GraphSource,
  SchemaRule,
} from '../graph/graph-store.ts';
import { encodeProperties } from '../graph/values.ts';
import { createSessions, type Neo4jSessions } from './neo4j-sessions.ts';

export interface Neo4jAddress {
  /** neo4j://, neo4j+s://, bolt:// or bolt+s:// */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** How long a small read or a write that fails by bad luck is tried again. */
  readonly patienceMs?: number;
}

// An address that swallows what it is sent is found out by then.
const LONGEST_SILENCE_MS = 15_000;

export function openNeo4j(address: Neo4jAddress) {
  const { url, user, password, patienceMs = 10_000 } = address;
  // Integers stay the driver's own: as numbers they would lose digits, and look like floats.
  const driver = neo4j.driver(url, neo4j.auth.basic(user, password), {
    maxTransactionRetryTime: patienceMs,
    connectionTimeout: LONGEST_SILENCE_MS,
    connectionAcquisitionTimeout: LONGEST_SILENCE_MS,
    telemetryDisabled: true,
  });
  const sessions = createSessions(driver);
  return {
    ...createSource(sessions),
    sessions,
    [Symbol.asyncDispose]: () => driver.close(),
  };
}

// Each of the two is answered from the store's own counters.
const COUNT_NODES = 'MATCH (n) RETURN count(n) AS count';
const COUNT_RELATIONSHIPS = 'MATCH ()-[r]->() RETURN count(r) AS count';

const COMPONENTS = `
  CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel'
  RETURN versions[0] AS version, edition`;

const CONSTRAINTS = 'SHOW CONSTRAINTS YIELD name, type, createStatement ORDER BY name';
const INDEXES = `
  SHOW INDEXES YIELD name, type, owningConstraint, createStatement
  WHERE owningConstraint IS NULL
  RETURN name, type, createStatement ORDER BY name`;

const NODES = `
  MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties`;
const RELATIONSHIPS = `
  MATCH (a)-[r]->(b)
  RETURN elementId(r) AS id, type(r) AS type, elementId(a) AS start, elementId(b) AS end,
    properties(r) AS properties`;

type RuleRow = { name: string; type: string; createStatement: string };
type NodeRow = { id: string; labels: string[]; properties: object };
type RelationshipRow = { id: string; type: string; start: string; end: string; properties: object };

function createSource({ rows, readOne }: Neo4jSessions): GraphSource {
  async function server(): Promise<GraphServer> {
    return (await readOne<{ version: string; edition: string }>(COMPONENTS)).row.toObject();
  }

  async function count(statement: string): Promise<number> {
    const { row } = await readOne<{ count: Integer }>(statement);
    return row.get('count').toNumber();
  }

  async function size(): Promise<GraphSize> {
    return { nodes: await count(COUNT_NODES), relationships: await count(COUNT_RELATIONSHIPS) };
  }

  // SHOW DATABASES has a lastCommittedTxn, which is null on Community. The bookmark of a read names, on every
  // edition, the last transaction that it saw.
  async function position(): Promise<string> {
    return (await readOne('RETURN 1 AS one')).bookmarks.toSorted().join(' ');
  }

  async function schema(): Promise<SchemaRule[]> {
    const found = [
      ...(await Array.fromAsync(rows<RuleRow>(CONSTRAINTS))),
      ...(await Array.fromAsync(rows<RuleRow>(INDEXES))),
    ];
    return found.map((row) => {
      const { name, type, createStatement: statement } = row.toObject();
      return { name, type, statement };
    });
  }

  async function* nodes(): AsyncIterable<GraphNode> {
    for await (const row of rows<NodeRow>(NODES)) {
      const node = row.toObject();
      yield { ...node, properties: encodeProperties(node.properties, `node ${node.id}`) };
    }
  }

  async function* relationships(): AsyncIterable<GraphRelationship> {
    for await (const row of rows<RelationshipRow>(RELATIONSHIPS)) {
      const found = row.toObject();
      const properties = encodeProperties(found.properties, `relationship ${found.id}`);
      yield { ...found, properties };
    }
  }

  return { server, size, position, schema, nodes, relationships };
}
