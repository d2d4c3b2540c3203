// Contract of graphs that dumps and restores rely on, in memory or in Neo4j
import { beforeEach, describe, expect, test } from 'vitest';
import { computeFingerprint } from '../../../../cli/migration/restore-graph/fingerprint.ts';
import type { GraphTarget } from '../../../../cli/migration/restore-graph/graph-target.ts';
import type { GraphNode, GraphRelationship } from '../../../../lib/migration/graph/graph-store.ts';
import { SAMPLE_NODES, SAMPLE_RELATIONSHIPS, SAMPLE_SCHEMA } from '../../support/graph-samples.ts';

const SAMPLE = {
  streamNodes: () => streamRows(SAMPLE_NODES),
  streamRelationships: () => streamRows(SAMPLE_RELATIONSHIPS),
};

/** @param open returns an empty graph at each call */
export function describeGraphStore(name: string, open: () => Promise<GraphTarget>): void {
  describe(`A graph in ${name}`, () => {
    let graph: GraphTarget;

    beforeEach(async () => {
      graph = await open();
    });

    test('reports the version and edition of its server', async () => {
      const { version, edition } = await graph.readServer();
      expect(version).toMatch(/^\d+\.\d+/);
      expect(edition).not.toBe('');
    });

    test('is empty at first', async () => {
      expect(await graph.readSize()).toEqual({ nodes: 0, relationships: 0 });
      expect(await Array.fromAsync(graph.streamNodes())).toEqual([]);
      expect(await Array.fromAsync(graph.streamRelationships())).toEqual([]);
      expect(await graph.readRestoreState()).toBe('none');
    });

    test('returns nodes with their labels and every type of property', async () => {
      await fill(graph);
      await graph.finishRestore();
      const found = await Array.fromAsync(graph.streamNodes());
      expect(found.map(withoutId).toSorted(byText)).toEqual(
        SAMPLE_NODES.map(withoutId).toSorted(byText),
      );
      expect(new Set(found.map(({ id }) => id)).size).toBe(SAMPLE_NODES.length);
    });

    test('returns relationships with their types, end nodes and properties', async () => {
      await fill(graph);
      await graph.finishRestore();
      expect(await computeFingerprint(graph)).toEqual(await computeFingerprint(SAMPLE));
      expect(await graph.readSize()).toEqual({
        nodes: SAMPLE_NODES.length,
        relationships: SAMPLE_RELATIONSHIPS.length,
      });
    });

    test('keeps its position until something is written', async () => {
      const before = await graph.readPosition();
      await Array.fromAsync(graph.streamNodes());
      expect(await graph.readPosition()).toBe(before);
      await fill(graph);
      expect(await graph.readPosition()).not.toBe(before);
    });

    test('can be closed in the middle of a stream', async () => {
      await fill(graph);
      for await (const _ of graph.streamNodes()) break;
      await graph.finishRestore();
      expect((await graph.readSize()).nodes).toBe(SAMPLE_NODES.length);
    });

    test('creates nothing twice if batches are sent again', async () => {
      await fill(graph);
      await fill(graph);
      await graph.finishRestore();
      await graph.finishRestore();
      expect(await computeFingerprint(graph)).toEqual(await computeFingerprint(SAMPLE));
    });

    test('distinguishes nodes of an unfinished restore from all others', async () => {
      await fill(graph);
      expect(await graph.readRestoreState()).toBe('filling');
      expect(await graph.countForeignNodes()).toBe(0);
      await graph.finishRestore();
      expect(await graph.readRestoreState()).toBe('none');
      expect(await graph.countForeignNodes()).toBe(SAMPLE_NODES.length);
    });

    test("refuses the whole batch if a relationship's node is missing", async () => {
      await graph.beginRestore();
      await graph.restoreNodes(SAMPLE_NODES.slice(0, 2));
      const [complete, , dangling] = SAMPLE_RELATIONSHIPS;
      const batch = [complete, dangling].filter((relationship) => relationship !== undefined);
      await expect(graph.restoreRelationships(batch)).rejects.toThrow(
        expect.objectContaining({ name: 'RefusedByService' }),
      );
      expect((await graph.readSize()).relationships).toBe(0);
    });

    test('enforces a schema that is applied once or twice, and lists it', async () => {
      const builtIn = await graph.readSchema();
      for (const rules of [SAMPLE_SCHEMA, [...builtIn, ...SAMPLE_SCHEMA]])
        await graph.createSchema(rules);
      const found = await graph.readSchema();
      expect(found).toEqual(expect.arrayContaining([...SAMPLE_SCHEMA]));
      expect(found).toHaveLength(builtIn.length + SAMPLE_SCHEMA.length);
      expect(found[0]).toMatchObject({ type: 'UNIQUENESS' });
    });

    test('refuses a second rule under the same name', async () => {
      await graph.createSchema(SAMPLE_SCHEMA);
      const conflicting = SAMPLE_SCHEMA.map((rule) => ({
        ...rule,
        statement: rule.statement.replace('n:`', 'n:`other '),
      }));
      await expect(graph.createSchema(conflicting)).rejects.toThrow(/already ?exists/i);
    });
  });
}

async function fill(graph: GraphTarget): Promise<void> {
  await graph.beginRestore();
  await graph.restoreNodes(SAMPLE_NODES.slice(0, 3));
  await graph.restoreNodes(SAMPLE_NODES.slice(2));
  await graph.restoreRelationships(SAMPLE_RELATIONSHIPS);
}

async function* streamRows<Row extends GraphNode | GraphRelationship>(rows: readonly Row[]) {
  yield* rows;
}

function withoutId({ labels, properties }: GraphNode) {
  return { labels: labels.toSorted(), properties };
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
