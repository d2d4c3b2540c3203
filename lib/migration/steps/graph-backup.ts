// The dump of the graph, as a part of the backup: exact in the window, where nobody writes any more.
import * as v from 'valibot';
import { dumpGraph } from '../graph/dump.ts';
import { GraphDriftedError } from '../graph/graph-errors.ts';
import { dumpKeys } from '../graph/manifest.ts';
import type { Turn } from '../runs/step.ts';

export const graphDumpSchema = v.object({
  /** none: there is no graph. drifted: somebody wrote to it meanwhile, before the window; it is dumped again in it. */
  kind: v.picklist(['none', 'drifted', 'exact']),
  prefix: v.string(),
  nodes: v.number(),
  relationships: v.number(),
});

export type GraphDump = v.InferOutput<typeof graphDumpSchema>;

/** @throws GraphDriftedError when somebody writes to the graph inside the window */
export async function backUpGraph({ services, run, lease }: Turn): Promise<GraphDump> {
  const { graph: source, artifacts, clock: now } = services;
  const prefix = `${run.runId}/graph-${lease.epoch}`;
  if (!source) return { kind: 'none', prefix, nodes: 0, relationships: 0 };
  try {
    const { contents } = await dumpGraph({ source, artifacts, prefix, runId: run.runId, now });
    const { nodes, relationships } = contents;
    return { kind: 'exact', prefix, nodes, relationships };
  } catch (error) {
    const isWindow = run.deadlineAt !== undefined;
    if (isWindow || !(error instanceof GraphDriftedError)) throw error;
    return { kind: 'drifted', prefix, nodes: 0, relationships: 0 };
  }
}

/** Keys of the artifacts that an exact dump consists of. */
export function filesOf({ kind, prefix }: GraphDump): string[] {
  return kind === 'exact' ? Object.values(dumpKeys(prefix)) : [];
}
