// Reports: JSON artifacts, of which the record keeps the digest and the few figures that matter.

import { createHash } from 'node:crypto';
import type { Evidence } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import type { Reference } from '../runs/run.ts';
import type { Lease } from '../runs/run-lock.ts';
import type { Services } from '../services.ts';
import { writeJson } from './json-artifact.ts';

/** Kept under the run and the turn it was made in: nothing is overwritten, a retried turn has its own. */
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

/** @throws MissingArtifactError; Refusal when it is not what was recorded */
export async function readReport(
  { artifacts }: Pick<Services, 'artifacts'>,
  reference: Reference,
): Promise<unknown> {
  const chunks = await Array.fromAsync(artifacts.get(reference.artifact));
  const bytes = Buffer.concat(chunks);
  if (createHash('sha256').update(bytes).digest('hex') === reference.digest) {
    return JSON.parse(bytes.toString());
  }
  throw new Refusal('RefusedMissingArtifact', `${reference.artifact} is not what was recorded.`);
}
