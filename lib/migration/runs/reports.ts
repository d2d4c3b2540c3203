// Reports: JSON artifacts, of which the record keeps the digest and the few figures that matter.

import * as v from 'valibot';
import type { Evidence } from '../phases.ts';
import { readJson, writeJson } from '../ports/json-artifact.ts';
import { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import type { Reference } from './run.ts';
import type { Lease } from './run-lock.ts';

/** Its key has the run and the lease's epoch: nothing is overwritten, a retry writes another. */
export async function storeReport(
  { artifacts, clock }: Pick<Services, 'artifacts' | 'clock'>,
  report: {
    readonly lease: Lease;
    readonly name: Evidence | 'user-counts';
    readonly content: unknown;
    readonly facts: Reference['facts'];
  },
): Promise<Reference> {
  const { lease, name, content, facts } = report;
  const key = `${lease.runId}/${name}-${lease.epoch}.json`;
  const { sha256 } = await writeJson(artifacts, key, content);
  return { artifact: key, digest: sha256, recordedAt: clock().getTime(), facts };
}

/** @throws Refusal when it is missing, or is not what was recorded */
export async function readReport(
  { artifacts }: Pick<Services, 'artifacts'>,
  { artifact, digest }: Reference,
): Promise<unknown> {
  return await readJson(artifacts, artifact, digest);
}

/** @throws Refusal when it is missing, or is not what was recorded, or none that is read here */
export async function parseReport<Output>(
  services: Pick<Services, 'artifacts'>,
  reference: Reference,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  const result = v.safeParse(schema, await readReport(services, reference));
  if (result.success) return result.output;
  const path = v.getDotPath(result.issues[0]) ?? 'whole';
  const why = `${reference.artifact} is of another version of the migration: its ${path}.`;
  throw new Refusal('RefusedMissingArtifact', why);
}
