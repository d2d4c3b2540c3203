// Writes the sample graph into a target as a restore does, and dumps a graph.

import type { GraphTarget } from '../../../cli/migration/restore-graph/graph-target.ts';
import { dumpGraph, type GraphManifest } from '../../../lib/migration/graph/dump.ts';
import type { GraphSource } from '../../../lib/migration/graph/graph-store.ts';
import type { ArtifactStore } from '../../../lib/migration/ports/artifacts.ts';
import { SAMPLE_NODES, SAMPLE_RELATIONSHIPS, SAMPLE_SCHEMA } from './graph-samples.ts';

export const DUMP_PREFIX = 'run-1/graph';

export async function fillWithSample<Graph extends GraphTarget>(graph: Graph): Promise<Graph> {
  await graph.beginRestore();
  await graph.restoreNodes(SAMPLE_NODES);
  await graph.restoreRelationships(SAMPLE_RELATIONSHIPS);
  await graph.createSchema(SAMPLE_SCHEMA);
  await graph.finishRestore();
  return graph;
}

export async function dump(source: GraphSource, artifacts: ArtifactStore): Promise<GraphManifest> {
  const now = () => new Date();
  return await dumpGraph({ source, artifacts, prefix: DUMP_PREFIX, runId: 'run-1', now });
}
