// The sample graph, brought into a target as a restore would.
import type { GraphTarget } from '../../lib/migration/graph/graph-store.ts';
import { SAMPLE_NODES, SAMPLE_RELATIONSHIPS, SAMPLE_SCHEMA } from './graph-samples.ts';

export async function fillWithSample<Graph extends GraphTarget>(graph: Graph): Promise<Graph> {
  await graph.beginRestore();
  await graph.restoreNodes(SAMPLE_NODES);
  await graph.restoreRelationships(SAMPLE_RELATIONSHIPS);
  await graph.createSchema(SAMPLE_SCHEMA);
  await graph.finishRestore();
  return graph;
}
