// The watch, as its schedule calls it, until there is nothing left to do.
import { keepWatch } from '../../../lib/migration/steps/watch.ts';
import type { Migration } from './migration.ts';

export async function watchUntilDone(migration: Migration) {
  for (;;) {
    const result = await keepWatch(migration.services);
    if (result === undefined || result.dryRun || result.done) return result;
    migration.pass(result.waitSeconds * 1_000);
  }
}
