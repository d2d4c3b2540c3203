// The fingerprint of a graph depends on its contents, not on ids or order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeFingerprint } from '../../../cli/migration/restore-graph/fingerprint.ts';
import type { GraphNode, GraphRelationship } from '../../../lib/migration/graph/graph-store.ts';
import type { Properties } from '../../../lib/migration/graph/values.ts';
import { seeded } from '../../shared/support/seed.ts';

interface Rows {
  readonly nodes: readonly GraphNode[];
  readonly relationships: readonly GraphRelationship[];
}

const name = fc.oneof(fc.constantFrom('a', 'b', 'user_id', 'valid', '__proto__'), fc.string());
const value = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.nat().map((n) => ({ $int: `${n}` })),
);
const properties = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
const labels = fc.uniqueArray(name, { maxLength: 3 });

const anyGraph: fc.Arbitrary<Rows> = fc
  .array(fc.record({ labels, properties }), { minLength: 1, maxLength: 6 })
  .chain((rows) => {
    const end = fc.nat({ max: rows.length - 1 }).map((index) => `n${index}`);
    const relationship = fc.record({ type: name, start: end, end, properties });
    return fc.record({
      nodes: fc.constant(rows.map((node, index) => ({ id: `n${index}`, ...node }))),
      relationships: fc
        .array(relationship, { maxLength: 6 })
        .map((found) => found.map((row, index) => ({ id: `r${index}`, ...row }))),
    });
  });

test('a graph has the same fingerprint for any ids and any order of its parts', async () => {
  const graphAndOrder = anyGraph.chain((graph) =>
    fc.record({
      graph: fc.constant(graph),
      nodes: fc.shuffledSubarray([...graph.nodes], { minLength: graph.nodes.length }),
      relationships: fc.shuffledSubarray([...graph.relationships], {
        minLength: graph.relationships.length,
      }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(graphAndOrder, async ({ graph, nodes, relationships }) => {
      const renamed = {
        nodes: nodes.map(renumberNode),
        relationships: relationships.map(renumberRelationship),
      };
      expect(await fingerprint(renamed)).toEqual(await fingerprint(graph));
    }),
    seeded(2_000),
  );
});

test('a graph with one row added, removed or changed has a different fingerprint', async () => {
  const change = fc.record({
    index: fc.nat(),
    kind: fc.constantFrom('drop', 'repeat', 'relabel', 'add a property', 'reverse'),
  });
  await fc.assert(
    fc.asyncProperty(anyGraph, change, async (graph, { index, kind }) => {
      const changed = changeRow(graph, kind, index);
      fc.pre(changed !== undefined);
      expect(await fingerprint(changed ?? graph)).not.toEqual(await fingerprint(graph));
    }),
    seeded(2_000),
  );
});

test('a graph with two equal nodes has a different fingerprint from an empty graph', async () => {
  const node = { labels: ['equal'], properties: {} };
  const twice = [1, 2].map((id) => ({ id: `n${id}`, ...node }));
  const { nodesDigest: emptyDigest } = await fingerprint({ nodes: [], relationships: [] });
  const { nodesDigest: digestOfTwo } = await fingerprint({ nodes: twice, relationships: [] });
  expect(digestOfTwo).not.toBe(emptyDigest);
});

function changeRow({ nodes, relationships }: Rows, kind: string, index: number): Rows | undefined {
  const node = nodes[index % nodes.length];
  const relationship = relationships[index % relationships.length];
  if (kind === 'relabel' && node) {
    const labels = [...node.labels, 'one more label'];
    return { nodes: nodes.map((row) => (row === node ? { ...row, labels } : row)), relationships };
  }
  if (!relationship) return undefined;
  const others = relationships.filter((row) => row !== relationship);
  const { start, end } = relationship;
  switch (kind) {
    case 'drop':
      return { nodes, relationships: others };
    case 'repeat':
      return { nodes, relationships: [...relationships, { ...relationship, id: 'again' }] };
    case 'add a property':
      return { nodes, relationships: [...others, withProperty(relationship)] };
    default:
      // A reversed relationship can leave the graph equal if its end nodes are equal, or if there are other relationships.
      return areEqual(nodes, start, end) || others.length > 0
        ? undefined
        : { nodes, relationships: [{ ...relationship, start: end, end: start }] };
  }
}

function withProperty(row: GraphRelationship): GraphRelationship {
  return { ...row, properties: { ...row.properties, 'one more property': '' } };
}

function areEqual(nodes: readonly GraphNode[], start: string, end: string): boolean {
  const [first, second] = [start, end].map((id) => nodes.find((node) => node.id === id));
  return toText(first) === toText(second);
}

function toText(node: GraphNode | undefined): string {
  const { labels = [], properties = {} } = node ?? {};
  return JSON.stringify([labels.toSorted(), Object.entries(properties).toSorted()]);
}

function renumberNode({ id, labels, properties }: GraphNode): GraphNode {
  return {
    id: `other ${id}`,
    labels: labels.toReversed(),
    properties: reverseProperties(properties),
  };
}

function renumberRelationship({
  id,
  start,
  end,
  type,
  properties,
}: GraphRelationship): GraphRelationship {
  const ends = { start: `other ${start}`, end: `other ${end}` };
  return { id: `other ${id}`, type, ...ends, properties: reverseProperties(properties) };
}

function reverseProperties(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).toReversed());
}

async function fingerprint({ nodes, relationships }: Rows) {
  return await computeFingerprint({
    streamNodes: async function* () {
      yield* nodes;
    },
    streamRelationships: async function* () {
      yield* relationships;
    },
  });
}
