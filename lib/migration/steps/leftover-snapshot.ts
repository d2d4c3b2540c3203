// A backup that was given up half-way has left its snapshot on the store, where it takes as much room as the memories.
import * as v from 'valibot';
import type { Turn } from '../runs/step.ts';
import { removeSnapshot, snapshotEntries } from './snapshot-stages.ts';

const stateSchema = v.object(snapshotEntries);

/** What the run's backup has not come to remove itself; one that the store is still making is not known yet. */
export async function removeLeftoverSnapshot({
  services: { runs, vectors },
  run,
  renew,
}: Pick<Turn, 'services' | 'run' | 'renew'>): Promise<void> {
  const checkpoint = await runs.readCheckpoint(run.runId, 'backup');
  const { sourceCollection } = run.plan;
  if (!checkpoint || !(await vectors.collectionExists(sourceCollection))) return;
  await renew();
  await removeSnapshot(vectors, sourceCollection, v.parse(stateSchema, checkpoint.state));
}
