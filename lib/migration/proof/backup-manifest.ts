// What a backup consists of: its snapshot, the dump of the graph, and the manifest that names them all.
import * as v from 'valibot';
import { Refusal } from '../refusals.ts';
import { parseReport } from '../runs/reports.ts';
import { type Run, referenceSchema } from '../runs/run.ts';
import { contentsSchema } from '../scan.ts';
import type { Services } from '../services.ts';
import { keptSnapshotSchema } from '../snapshots.ts';

export const graphDumpSchema = v.object({
  /** none: there is no graph. drifted: somebody wrote to it meanwhile, before the window; it is dumped again in it. */
  kind: v.picklist(['none', 'drifted', 'exact']),
  prefix: v.string(),
  nodes: v.number(),
  relationships: v.number(),
});

export type GraphDump = v.InferOutput<typeof graphDumpSchema>;

const manifestSchema = v.object({
  collection: v.string(),
  storeVersion: v.string(),
  counts: referenceSchema,
  snapshot: keptSnapshotSchema,
  /** Of the snapshot, restored for a test. */
  contents: contentsSchema,
  graph: graphDumpSchema,
});

export type BackupManifest = v.InferOutput<typeof manifestSchema>;

/** @throws Refusal where there is none, or it is not what was recorded */
export async function readManifest(services: Services, run: Run): Promise<BackupManifest> {
  const reference = run.evidence['backup-manifest'];
  if (!reference) throw new Refusal('RefusedNotNow', 'There is no backup.');
  return await parseReport(services, reference, manifestSchema);
}
