// In-memory graph for rehearsals: behaves like Neo4j during dumps and restores, with the same restore marks and refusals.
import type { GraphTarget, RestoreState } from '../cli/migration/restore-graph/graph-target.ts';
import {
  type GraphNode,
  type GraphRelationship,
  RESTORE_ID,
  RESTORE_LABEL,
  type SchemaRule,
} from '../lib/migration/graph/graph-store.ts';
import type { Properties } from '../lib/migration/graph/values.ts';
import { Refusal } from '../lib/migration/refusals.ts';

type NewNode = Pick<GraphNode, 'labels' | 'properties'>;
type NewRelationship = Omit<GraphRelationship, 'id'>;

export interface SandboxGraph extends GraphTarget {
  /** @returns the id of the new node */
  addNode(node: NewNode): string;
  addRelationship(relationship: NewRelationship): string;
}

// Neo4j creates this index with every database.
const LOOKUP_INDEX: SchemaRule = {
  name: 'index_343aff4e',
  type: 'LOOKUP',
  statement: 'CREATE LOOKUP INDEX `index_343aff4e` FOR (n) ON EACH labels(n)',
};

export function createSandboxGraph(): SandboxGraph {
  const nodes = new Map<string, GraphNode>();
  const relationships = new Map<string, GraphRelationship>();
  const rules = new Map([[LOOKUP_INDEX.name, LOOKUP_INDEX]]);
  /** Maps the ids of originals to the ids of their copies, while a restore is unfinished. */
  const restored = { nodes: new Map<string, string>(), relationships: new Map<string, string>() };
  let state: RestoreState = 'none';
  let commits = 0;
  let lastId = 0;

  const assignId = () => {
    commits += 1;
    lastId += 1;
    return `4:sandbox:${lastId}`;
  };

  function addNode({ labels, properties }: NewNode): string {
    const id = assignId();
    nodes.set(id, { id, labels, properties });
    return id;
  }

  function addRelationship(relationship: NewRelationship): string {
    const id = assignId();
    relationships.set(id, { id, ...relationship });
    return id;
  }

  async function restoreNodes(batch: readonly GraphNode[]): Promise<void> {
    for (const { id: original, labels, properties } of batch) {
      if (restored.nodes.has(original)) continue;
      const marked = { labels: [...labels, RESTORE_LABEL], properties: mark(properties, original) };
      restored.nodes.set(original, addNode(marked));
    }
  }

  async function restoreRelationships(batch: readonly GraphRelationship[]): Promise<void> {
    const copies = batch.map(({ start: from, end: to, ...rest }) => {
      const [start, end] = [restored.nodes.get(from), restored.nodes.get(to)];
      if (start && end) return { ...rest, start, end };
      const why = 'A relationship refers to a node that does not exist.';
      throw new Refusal('RefusedByService', why);
    });
    for (const { id: original, type, start, end, properties } of copies) {
      if (restored.relationships.has(original)) continue;
      const marked = { type, start, end, properties: mark(properties, original) };
      restored.relationships.set(original, addRelationship(marked));
    }
  }

  async function finishRestore(): Promise<void> {
    state = 'finishing';
    for (const id of restored.nodes.values()) update(nodes, id, unmarkNode);
    for (const id of restored.relationships.values()) update(relationships, id, unmark);
    restored.nodes.clear();
    restored.relationships.clear();
    commits += 1;
    state = 'none';
  }

  async function createSchema(wantedRules: readonly SchemaRule[]): Promise<void> {
    for (const rule of wantedRules) {
      const existing = rules.get(rule.name);
      if (existing && existing.statement !== rule.statement) {
        throw new Error(`There already exists an index or constraint called '${rule.name}'`);
      }
      rules.set(rule.name, rule);
      commits += 1;
    }
  }

  return {
    addNode,
    addRelationship,
    readServer: async () => ({ version: '5.26.0', edition: 'sandbox' }),
    readSize: async () => ({ nodes: nodes.size, relationships: relationships.size }),
    readPosition: async () => `FB:${commits}`,
    readSchema: async () => [...rules.values()].toSorted(compareRules),
    streamNodes: () => streamRows(nodes),
    streamRelationships: () => streamRows(relationships),
    readRestoreState: async () => state,
    countForeignNodes: async () => nodes.size - restored.nodes.size,
    beginRestore: async () => {
      state = 'filling';
    },
    restoreNodes,
    restoreRelationships,
    finishRestore,
    createSchema,
  };
}

// Yields one row at a time, so that a reader sees changes made meanwhile: reading a graph from Neo4j takes no snapshot.
async function* streamRows<Row>(rows: ReadonlyMap<string, Row>): AsyncIterable<Row> {
  for (const row of rows.values()) {
    await Promise.resolve();
    yield row;
  }
}

function update<Row>(rows: Map<string, Row>, id: string, change: (row: Row) => Row): void {
  const row = rows.get(id);
  if (row) rows.set(id, change(row));
}

function mark(properties: Properties, original: string): Properties {
  return { ...properties, [RESTORE_ID]: original };
}

function unmark<Row extends { readonly properties: Properties }>(row: Row): Row {
  const { [RESTORE_ID]: _, ...properties } = row.properties;
  return { ...row, properties };
}

function unmarkNode(node: GraphNode): GraphNode {
  return { ...unmark(node), labels: node.labels.filter((label) => label !== RESTORE_LABEL) };
}

function compareRules(a: SchemaRule, b: SchemaRule): number {
  const sortKey = ({ statement, name }: SchemaRule) =>
    `${/^CREATE CONSTRAINT/.test(statement) ? 0 : 1} ${name}`;
  return sortKey(a) < sortKey(b) ? -1 : 1;
}
