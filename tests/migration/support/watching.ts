// Calls the watch, as its schedule does, until everything that is due has been done.
import { keepWatch } from '../../../lib/migration/steps/watch.ts';
import type { Migration } from './migration.ts';

/** @throws if the watch does nothing, because nothing is due or another step has the lock */
export async function watchUntilDone(migration: Migration): Promise<void> {
  for (;;) {
    const result = await keepWatch(migration.services);
    if (result === undefined || result.dryRun) throw new Error('The watch has done nothing');
    if (result.done) return;
    await migration.letTimePass(result.waitSeconds * 1_000);
  }
}
