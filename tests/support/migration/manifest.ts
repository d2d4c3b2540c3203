// The manifest that a backup leaves.
import { readReport } from '../../../lib/migration/runs/reports.ts';
import type { Reference } from '../../../lib/migration/runs/run.ts';
import type { KeptSnapshot } from '../../../lib/migration/snapshots.ts';
import { type Migration, RUN } from './migration.ts';

export interface Manifest {
  readonly counts: Reference;
  readonly snapshot: KeptSnapshot;
  readonly contents: { readonly points: number; readonly users: number };
}

export async function manifestOf({ runs, services }: Migration): Promise<Manifest> {
  const reference = (await runs.read(RUN)).evidence['backup-manifest'];
  if (!reference) throw new Error('No manifest');
  return (await readReport(services, reference)) as Manifest;
}
