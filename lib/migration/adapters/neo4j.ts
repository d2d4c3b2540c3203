// A graph in Neo4j, over Bolt with the official driver. The driver's failures become refusals and retryable failures.
import neo4j, {
  type Driver,
  type Integer,
  Neo4jError,
  type RecordShape,
  type Record as Row,
  type Session,
  type SessionMode,
} from 'neo4j-driver';
import type {
  GraphNode,
  GraphRelationship,
  GraphServer,
  GraphSize,
  GraphSource,
  SchemaRule,
} from '../graph/graph-store.ts';
import { encodeProperties } from '../graph/values.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';

export interface Neo4jAddress {
  /** neo4j://, neo4j+s://, bolt:// or bolt+s:// */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Name of the database; by default the user's home database */
  readonly database?: string | undefined;
  /** Time for which a small read or a write is retried after a transient failure */
  readonly patienceMs?: number;
}

// Limit for a server that accepts connections but never responds
const MAX_SILENCE_MS = 15_000;

export function openNeo4j(address: Neo4jAddress) {
  const { url, user, password, database, patienceMs = 10_000 } = address;
  // Integers keep the driver's own type: as numbers they would lose digits, and look like floats.
  const driver = neo4j.driver(url, neo4j.auth.basic(user, password), {
    maxTransactionRetryTime: patienceMs,
    connectionTimeout: MAX_SILENCE_MS,
    connectionAcquisitionTimeout: MAX_SILENCE_MS,
    telemetryDisabled: true,
  });
  const sessions = createSessions(driver, database);
  return {
    ...createSource(sessions),
    sessions,
    [Symbol.asyncDispose]: () => driver.close(),
  };
}

// The store answers both queries from its own counters.
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

function createSource({ streamRows, readOne }: Neo4jSessions): GraphSource {
  async function readServer(): Promise<GraphServer> {
    return (await readOne<{ version: string; edition: string }>(COMPONENTS)).row.toObject();
  }

  async function count(statement: string): Promise<number> {
    const { row } = await readOne<{ count: Integer }>(statement);
    return row.get('count').toNumber();
  }

  async function readSize(): Promise<GraphSize> {
    return { nodes: await count(COUNT_NODES), relationships: await count(COUNT_RELATIONSHIPS) };
  }

  // On every edition, the bookmark of a read names the last transaction that the read saw. (The lastCommittedTxn of SHOW DATABASES
  // is null on Community.)
  async function readPosition(): Promise<string> {
    return (await readOne('RETURN 1 AS one')).bookmarks.toSorted().join(' ');
  }

  async function readSchema(): Promise<SchemaRule[]> {
    const rows = [
      ...(await Array.fromAsync(streamRows<RuleRow>(CONSTRAINTS))),
      ...(await Array.fromAsync(streamRows<RuleRow>(INDEXES))),
    ];
    return rows.map((row) => {
      const { name, type, createStatement: statement } = row.toObject();
      return { name, type, statement };
    });
  }

  async function* streamNodes(): AsyncIterable<GraphNode> {
    for await (const row of streamRows<NodeRow>(NODES)) {
      const node = row.toObject();
      yield { ...node, properties: encodeProperties(node.properties, `node ${node.id}`) };
    }
  }

  async function* streamRelationships(): AsyncIterable<GraphRelationship> {
    for await (const row of streamRows<RelationshipRow>(RELATIONSHIPS)) {
      const relationship = row.toObject();
      const properties = encodeProperties(
        relationship.properties,
        `relationship ${relationship.id}`,
      );
      yield { ...relationship, properties };
    }
  }

  return { readServer, readSize, readPosition, readSchema, streamNodes, streamRelationships };
}

type Neo4jSessions = ReturnType<typeof createSessions>;

// Number of rows in memory at a time; a row with an embedding has about ten kilobytes.
const FETCH_SIZE = 100;
// A server may limit how long transactions take, and a long read may take longer: 0 lifts the limit.
const UNLIMITED = { timeout: 0 };

// Each piece of work has its own session, closed when the work ends or fails.
function createSessions(driver: Driver, database: string | undefined) {
  const open = (defaultAccessMode: SessionMode): Session =>
    driver.session({ defaultAccessMode, fetchSize: FETCH_SIZE, ...(database && { database }) });

  /** Streams rows, no faster than they are consumed. */
  // Does not use executeRead: its retries would start again from the first row in the middle of the stream.
  async function* streamRows<Shape extends RecordShape>(
    statement: string,
  ): AsyncGenerator<Row<Shape>> {
    try {
      await using session = open('READ');
      const transaction = await session.beginTransaction(UNLIMITED);
      yield* transaction.run<Shape>(statement);
      await transaction.commit();
    } catch (error) {
      throw translateDriverError(error);
    }
  }

  async function withSession<Result>(
    mode: SessionMode,
    work: (session: Session) => Promise<Result>,
  ) {
    try {
      await using session = open(mode);
      return await work(session);
    } catch (error) {
      throw translateDriverError(error);
    }
  }

  /** Reads one row, and the bookmarks of the last transactions that the read saw. */
  const readOne = <Shape extends RecordShape>(statement: string) =>
    withSession('READ', async (session) => {
      const result = await session.executeRead((transaction) => transaction.run<Shape>(statement));
      const [row] = result.records;
      if (!row) throw new Error(`The graph has no answer to: ${statement}`);
      return { row, bookmarks: session.lastBookmarks() };
    });

  const write = <Result>(work: (session: Session) => Promise<Result>) => withSession('WRITE', work);

  return { streamRows, readOne, write };
}

// Transient failures that the driver does not call retryable. N/A: the driver got no connection in time.
const TRANSIENT_CODES = /\.TransactionTimedOut|^N\/A$/;

/** Translates a failure of the driver; returns any other error unchanged. */
export function translateDriverError(cause: unknown): unknown {
  if (!(cause instanceof Neo4jError)) return cause;
  const { code, retryable } = cause;
  const options = { cause, code };
  if (retryable || TRANSIENT_CODES.test(code)) {
    const why = `The graph of NEO4J_URL is not available: ${code}.`;
    return new RetryableFailure('RetryableUnavailable', why, options);
  }
  // The refusal names only the code: the driver's message may quote contents of the graph.
  return code.startsWith('Neo.ClientError.Security.')
    ? new Refusal('RefusedCredentials', `The graph refuses the credentials: ${code}.`, options)
    : new Refusal('RefusedByService', `The graph refuses the request: ${code}.`, options);
}
