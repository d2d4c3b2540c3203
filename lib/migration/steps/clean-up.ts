// Removes what the run itself has put on the store.
import type { Run } from '../runs/run.ts';
import { ofTestUser } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';

type Removing = Pick<StepContext, 'services' | 'run' | 'renew'>;

/** Never the old collection, nor the one that the setting names: users may work there. */
export async function removeCollections(
  { services: { vectors, setting }, run, renew }: Removing,
  names: readonly string[],
): Promise<void> {
  const kept = [run.plan.sourceCollection, await setting.read()];
  for (const name of new Set(names)) {
    if (kept.includes(name)) continue;
    await renew();
    await vectors.deleteCollection(name);
  }
}

/** @returns how many points of the test user there were */
export async function removeTestWrites(
  { services, run, renew }: Removing,
  collections: readonly string[],
): Promise<number> {
  let written = 0;
  for (const name of collections) {
    const points = await countTestWrites(services, run, [name]);
    if (points === 0) continue;
    await renew();
    await services.vectors.deletePoints(name, { filter: ofTestUser(run) });
    written += points;
  }
  return written;
}

/** Of the collections, those that are gone hold none. */
export async function countTestWrites(
  { vectors }: Pick<Services, 'vectors'>,
  run: Run,
  collections: readonly string[],
): Promise<number> {
  let points = 0;
  for (const name of collections) {
    if (await vectors.collectionExists(name)) points += await vectors.count(name, ofTestUser(run));
  }
  return points;
}

/**
 * For what merely takes space: once users are let in, it keeps no step from its end.
 * @param message says what is left, when the work fails
 */
export async function tidyUp(
  { services, run }: StepContext,
  message: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    services.log({ level: 'WARN', message, runId: run.runId, why: String(error) });
  }
}
