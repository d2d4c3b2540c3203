// Reports are JSON artifacts; the run's record has their digests and most important figures. Other steps read only one report
// again: the manifest of a backup.
import * as v from 'valibot';
import { keptSnapshotSchema } from '../kept-snapshot.ts';
import type { Evidence } from '../phases.ts';
import { readJson, writeJson } from '../ports/artifacts.ts';
import { Refusal } from '../refusals.ts';
import { contentsSchema } from '../scan.ts';
import type { Services } from '../services.ts';
import { type Reference, type Run, referenceSchema } from './run.ts';
import type { Lease } from './run-lock.ts';

/** The artifact's key contains the run's id and the lease's epoch, so a retry overwrites nothing. */
export async function storeReport(
  { services: { artifacts, clock }, lease: { runId, epoch } }: ReportContext,
  name: Evidence,
  {
    facts,
    details,
  }: { readonly facts: Reference['facts']; readonly details?: Readonly<Record<string, unknown>> },
): Promise<Reference> {
  const artifact = `${runId}/${name}-${epoch}.json`;
  const { sha256 } = await writeJson(artifacts, artifact, { runId, ...facts, ...details });
  return { artifact, digest: sha256, recordedAt: clock().getTime(), facts };
}

interface ReportContext {
  readonly services: Pick<Services, 'artifacts' | 'clock'>;
  readonly lease: Lease;
}

/** @throws Refusal when the report is missing, differs from what was recorded, or does not match the schema */
export async function parseReport<Output>(
  { artifacts }: Pick<Services, 'artifacts'>,
  { artifact, digest }: Reference,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  const result = v.safeParse(schema, await readJson(artifacts, artifact, digest));
  if (result.success) return result.output;
  const path = v.getDotPath(result.issues[0]) ?? 'contents';
  const why = `${artifact} was written by another version of the migration: see its ${path}.`;
  throw new Refusal('RefusedMissingArtifact', why);
}

const graphDumpSchema = v.object({
  /** none: no graph. drifted: the graph changed during the dump before the window; it is dumped again in the window. */
  kind: v.picklist(['none', 'drifted', 'exact']),
  prefix: v.string(),
  nodes: v.number(),
  relationships: v.number(),
  /** Digest of the whole dump */
  digest: v.optional(v.string()),
});

export type GraphDump = v.InferOutput<typeof graphDumpSchema>;

const manifestSchema = v.object({
  collection: v.string(),
  storeVersion: v.string(),
  counts: referenceSchema,
  snapshot: keptSnapshotSchema,
  /** Contents of the snapshot, as restored for a test */
  contents: contentsSchema,
  graph: graphDumpSchema,
});

/** @throws Refusal if there is no backup, or its manifest differs from what was recorded */
export async function readManifest(services: Services, run: Run) {
  const reference = run.evidence['backup-manifest'];
  if (!reference) throw new Refusal('RefusedNotNow', 'There is no backup.');
  return await parseReport(services, reference, manifestSchema);
}
