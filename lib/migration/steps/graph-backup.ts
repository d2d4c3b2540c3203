// The dump of the graph, as a part of the backup: exact in the window, where nobody writes any more.
import { dumpGraph } from '../graph/dump.ts';
import { dumpKeys, type GraphManifest } from '../graph/manifest.ts';
import { verifyDump } from '../graph/read-dump.ts';
import type { ArtifactStore } from '../ports/artifacts.ts';
import type { GraphDump } from '../proof/backup-manifest.ts';
import { isRefusal } from '../refusals.ts';
import type { StepContext } from '../runs/step.ts';

/** @throws Refusal when somebody writes to the graph inside the window, or the dump cannot be read back */
export async function backUpGraph({ services, run, lease }: StepContext): Promise<GraphDump> {
  const { graph: source, artifacts, clock: now } = services;
  const prefix = `${run.runId}/graph-${lease.epoch}`;
  if (!source) return { kind: 'none', prefix, nodes: 0, relationships: 0 };
  try {
    await dumpGraph({ source, artifacts, prefix, runId: run.runId, now });
    const { nodes, relationships } = (await readBack(artifacts, prefix)).contents;
    return { kind: 'exact', prefix, nodes, relationships };
  } catch (error) {
    const isWindow = run.deadlineAt !== undefined;
    if (isWindow || !isRefusal(error, 'RefusedNotFrozen')) throw error;
    return { kind: 'drifted', prefix, nodes: 0, relationships: 0 };
  }
}

// Every value and both ends of every relationship: what cannot be read is no dump, and has no manifest.
async function readBack(artifacts: ArtifactStore, prefix: string): Promise<GraphManifest> {
  try {
    return await verifyDump(artifacts, prefix);
  } catch (error) {
    await artifacts.delete(dumpKeys(prefix).manifest);
    throw error;
  }
}

/** Keys of the artifacts that an exact dump consists of. */
export function filesOf({ kind, prefix }: GraphDump): string[] {
  return kind === 'exact' ? Object.values(dumpKeys(prefix)) : [];
}
