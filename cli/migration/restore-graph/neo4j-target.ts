// Fills an empty Neo4j. Until the restore is finished, every node and relationship carries the id of its original, so that a
// repeated batch finds what the first attempt created. Nodes also have a label, whose constraint makes these ids unique.
import type { Integer, ManagedTransaction } from 'neo4j-driver';
import { type Neo4jAddress, openNeo4j } from '../../../lib/migration/adapters/neo4j.ts';
import {
  type GraphNode,
  type GraphRelationship,
  RESTORE_ID,
  RESTORE_LABEL,
  type SchemaRule,
} from '../../../lib/migration/graph/graph-store.ts';
import {
  decodeProperties,
  type Properties,
  type TaggedValue,
} from '../../../lib/migration/graph/values.ts';
import { isRefusedWith, Refusal } from '../../../lib/migration/refusals.ts';
import type { GraphRestore, GraphTarget, RestoreState } from './graph-target.ts';

// Two constraints mark the state of a restore: a constraint outlives a killed process, and adds no data to the graph.
const FILLING = '_restore_filling';
const FINISHING = '_restore_finishing';

const BEGIN = `
  CREATE CONSTRAINT ${FILLING} IF NOT EXISTS
  FOR (n:${RESTORE_LABEL}) REQUIRE n.${RESTORE_ID} IS UNIQUE`;

const FINISH = [
  `CREATE CONSTRAINT ${FINISHING} IF NOT EXISTS
   FOR (n:${RESTORE_LABEL}) REQUIRE n.${FINISHING} IS UNIQUE`,
  `MATCH ()-[r]->() WHERE r.${RESTORE_ID} IS NOT NULL
   CALL { WITH r REMOVE r.${RESTORE_ID} } IN TRANSACTIONS OF 1000 ROWS`,
  `MATCH (n:${RESTORE_LABEL})
   CALL { WITH n REMOVE n:${RESTORE_LABEL}, n.${RESTORE_ID} } IN TRANSACTIONS OF 1000 ROWS`,
  `DROP CONSTRAINT ${FILLING} IF EXISTS`,
  `DROP CONSTRAINT ${FINISHING} IF EXISTS`,
];

const INDEX_WAIT_SECONDS = 300;

const COUNT_FOREIGN_NODES = `MATCH (n) WHERE NOT n:${RESTORE_LABEL} RETURN count(n) AS count`;

// This procedure of Neo4j stores embeddings in single precision, as in the original graph.
const SET_NODE_EMBEDDINGS = `
  UNWIND $rows AS row MATCH (n:${RESTORE_LABEL} {${RESTORE_ID}: row.id})
  UNWIND row.embeddings AS embedding
  CALL db.create.setNodeVectorProperty(n, embedding.key, embedding.value)`;

const buildNodesQuery = (labels: readonly string[]) => `
  UNWIND $rows AS row MERGE (n:${RESTORE_LABEL} {${RESTORE_ID}: row.id})
  SET n${labels.map((label) => `:${quoteName(label)}`).join('')}:${RESTORE_LABEL}
  SET n += row.properties`;

const buildRelationshipsQuery = (type: string) => `
  UNWIND $rows AS row
  MATCH (a:${RESTORE_LABEL} {${RESTORE_ID}: row.start})
  MATCH (b:${RESTORE_LABEL} {${RESTORE_ID}: row.end})
  MERGE (a)-[r:${quoteName(type)} {${RESTORE_ID}: row.id}]->(b)
  SET r += row.properties
  RETURN count(r) AS matched`;

const buildEmbeddingsQuery = (type: string) => `
  UNWIND $rows AS row
  MATCH (:${RESTORE_LABEL} {${RESTORE_ID}: row.start})-[r:${quoteName(type)} {${RESTORE_ID}: row.id}]->()
  UNWIND row.embeddings AS embedding
  CALL db.create.setRelationshipVectorProperty(r, embedding.key, embedding.value)`;

export interface Neo4jTarget extends GraphTarget, AsyncDisposable {}

export function openNeo4jTarget(address: Neo4jAddress): Neo4jTarget {
  const { sessions, ...source } = openNeo4j(address);
  return { ...source, ...createRestore(sessions) };
}

type Sessions = ReturnType<typeof openNeo4j>['sessions'];

function createRestore({ streamRows, readOne, write }: Sessions): GraphRestore {
  const runStatements = (statements: readonly string[]) =>
    write(async (session) => {
      for (const statement of statements) await session.run(statement);
    });

  async function readRestoreState(): Promise<RestoreState> {
    const constraints = streamRows<{ name: string }>('SHOW CONSTRAINTS YIELD name');
    const names = await Array.fromAsync(constraints, (row) => row.get('name'));
    if (names.includes(FINISHING)) return 'finishing';
    return names.includes(FILLING) ? 'filling' : 'none';
  }

  async function countForeignNodes(): Promise<number> {
    return (await readOne<{ count: Integer }>(COUNT_FOREIGN_NODES)).row.get('count').toNumber();
  }

  async function restoreNodes(batch: readonly GraphNode[]): Promise<void> {
    const groups = Map.groupBy(batch, ({ labels }) => buildNodesQuery(labels));
    await write((session) =>
      session.executeWrite(async (transaction) => {
        for (const [statement, nodes] of groups) {
          const parameters = nodes.map(({ id, properties }) => ({
            id,
            ...splitProperties(properties),
          }));
          await transaction.run(statement, { rows: parameters });
          await writeEmbeddings(transaction, SET_NODE_EMBEDDINGS, parameters);
        }
      }),
    );
  }

  async function restoreRelationships(batch: readonly GraphRelationship[]): Promise<void> {
    const groups = Map.groupBy(batch, ({ type }) => type);
    await write((session) =>
      session.executeWrite(async (transaction) => {
        for (const [type, relationships] of groups) {
          await restoreType(transaction, type, relationships);
        }
      }),
    );
  }

  async function createSchema(rules: readonly SchemaRule[]): Promise<void> {
    for (const { statement } of rules) await ignoreExisting(runStatements([statement]));
    await runStatements([`CALL db.awaitIndexes(${INDEX_WAIT_SECONDS})`]);
  }

  return {
    readRestoreState,
    countForeignNodes,
    beginRestore: () => runStatements([BEGIN]),
    restoreNodes,
    restoreRelationships,
    createSchema,
    finishRestore: () => runStatements(FINISH),
  };
}

async function restoreType(
  transaction: ManagedTransaction,
  type: string,
  relationships: readonly GraphRelationship[],
): Promise<void> {
  const parameters = relationships.map(({ id, start, end, properties }) => {
    return { id, start, end, ...splitProperties(properties) };
  });
  const { records } = await transaction.run<{ matched: Integer }>(buildRelationshipsQuery(type), {
    rows: parameters,
  });
  const matched = records[0]?.get('matched').toNumber() ?? 0;
  if (matched !== relationships.length) {
    const why = `Only ${matched} of ${relationships.length} relationships found the nodes at their ends.`;
    throw new Refusal('RefusedByService', why);
  }
  await writeEmbeddings(transaction, buildEmbeddingsQuery(type), parameters);
}

interface SplitProperties {
  readonly properties: Record<string, unknown>;
  readonly embeddings: readonly { readonly key: string; readonly value: unknown }[];
}

function splitProperties(properties: Properties): SplitProperties {
  const { embedding = [], plain = [] } = Object.groupBy(Object.entries(properties), ([, value]) =>
    isEmbedding(value) ? 'embedding' : 'plain',
  );
  const embeddings = Object.entries(decodeProperties(Object.fromEntries(embedding)));
  return {
    properties: decodeProperties(Object.fromEntries(plain)),
    embeddings: embeddings.map(([key, value]) => ({ key, value })),
  };
}

async function writeEmbeddings(
  transaction: ManagedTransaction,
  statement: string,
  parameters: readonly SplitProperties[],
): Promise<void> {
  const rowsWithEmbeddings = parameters.filter(({ embeddings }) => embeddings.length > 0);
  if (rowsWithEmbeddings.length > 0) await transaction.run(statement, { rows: rowsWithEmbeddings });
}

function isEmbedding(value: TaggedValue): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, '$f32');
}

// Quotes a name, which may contain any character. Backticks are doubled; a backslash is written as its code, because the server
// reads \uXXXX as a character everywhere.
function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\u005C').replaceAll('`', '``')}\``;
}

const ALREADY_EXISTS_CODES = [
  'Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists',
  // Every new database has its two lookup indexes already.
  'Neo.ClientError.Schema.IndexAlreadyExists',
];

async function ignoreExisting(creation: Promise<void>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!ALREADY_EXISTS_CODES.some((code) => isRefusedWith(error, code))) throw error;
  }
}
