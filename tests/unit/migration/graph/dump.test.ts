import { expect, test } from 'vitest';
import { readManifest } from '../../../../lib/migration/graph/dump.ts';
import type { GraphSource } from '../../../../lib/migration/graph/graph-store.ts';
import { createSandboxGraph, type SandboxGraph } from '../../../../local/sandbox/graph.ts';
import { openArtifactFolder } from '../../../support/artifact-folder.ts';
import { DUMP_PREFIX, dump, fillWithSample } from '../../../support/filled-graph.ts';

test.each<[string, string, (graph: SandboxGraph) => GraphSource]>([
  [
    'a node appears behind the reader',
    'RefusedNotFrozen',
    (graph) => ({
      ...graph,
      nodes: async function* () {
        yield* graph.nodes();
        graph.addNode({ labels: ['late'], properties: {} });
      },
    }),
  ],
  [
    'a node is seen twice',
    'RefusedNotFrozen',
    (graph) => ({
      ...graph,
      nodes: async function* () {
        yield* graph.nodes();
        for await (const node of graph.nodes()) {
          yield node;
          return;
        }
      },
    }),
  ],
  [
    'a relationship is missed',
    'RefusedNotFrozen',
    (graph) => ({
      ...graph,
      relationships: async function* () {
        let missed = false;
        for await (const relationship of graph.relationships()) {
          if (missed) yield relationship;
          missed = true;
        }
      },
    }),
  ],
  [
    'the node at the end of a relationship is missed',
    'RefusedNotFrozen',
    (graph) => ({
      ...graph,
      nodes: async function* () {
        for await (const node of graph.nodes()) if (!node.labels.includes('person')) yield node;
      },
    }),
  ],
  [
    'only the position tells that something was committed',
    'RefusedNotFrozen',
    (graph) => {
      let asked = 0;
      return { ...graph, position: async () => `FB:${asked++}` };
    },
  ],
  [
    'an unfinished restore is found in it',
    'RefusedGraph',
    (graph) => {
      graph.addNode({ labels: ['_Restore'], properties: {} });
      return graph;
    },
  ],
  [
    'a property has the name that a restore needs',
    'RefusedGraph',
    (graph) => {
      graph.addNode({ labels: [], properties: { _restoreId: 'mine' } });
      return graph;
    },
  ],
])('A graph is not dumped when %s', async (_, name, disturb) => {
  const { artifacts } = await openArtifactFolder();
  const source = disturb(await fillWithSample(createSandboxGraph()));
  await expect(dump(source, artifacts)).rejects.toThrow(expect.objectContaining({ name }));
  await expect(readManifest(artifacts, DUMP_PREFIX)).rejects.toThrow('There is no artifact');
});

test('A dump that fails takes the manifest of an earlier one with it', async () => {
  const { artifacts } = await openArtifactFolder();
  const graph = await fillWithSample(createSandboxGraph());
  await dump(graph, artifacts);
  const broken: GraphSource = {
    ...graph,
    // biome-ignore lint/correctness/useYield: it breaks before the first row
    relationships: async function* () {
      throw new Error('the connection broke');
    },
  };
  await expect(dump(broken, artifacts)).rejects.toThrow('the connection broke');
  await expect(readManifest(artifacts, DUMP_PREFIX)).rejects.toThrow('There is no artifact');
});

test('A dump that must be kept is not written over', async () => {
  const { artifacts } = await openArtifactFolder();
  const graph = await fillWithSample(createSandboxGraph());
  const kept = await dump(graph, artifacts);
  await artifacts.retain(`${DUMP_PREFIX}/manifest.json`, new Date(Date.now() + 3_600_000));
  await expect(dump(graph, artifacts)).rejects.toThrow(
    expect.objectContaining({ name: 'RefusedRetained' }),
  );
  expect(await readManifest(artifacts, DUMP_PREFIX)).toEqual(kept);
});
