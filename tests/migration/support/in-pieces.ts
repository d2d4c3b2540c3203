// A rollback in many invocations, each of which has time for only a few pages.
import type { ServiceChanges } from './changed-services.ts';
import type { Migration } from './migration.ts';

const MAX_INVOCATIONS = 60;
/** How often an invocation can ask for its remaining time; the last answer is that none is left. */
const MAX_CHECKS = 16;

export async function rollBackInPieces(
  migration: Migration,
  changes: ServiceChanges = {},
): Promise<void> {
  for (let invocation = 0; invocation < MAX_INVOCATIONS; invocation += 1) {
    let checks = MAX_CHECKS;
    const timeLeftMs = () => {
      checks -= 1;
      return checks > 0 ? 600_000 : 0;
    };
    const result = await migration.invoke('rollback', {}, changes, timeLeftMs);
    if (result.dryRun || result.done) return;
    migration.advanceClock(result.waitSeconds * 1_000);
  }
  throw new Error(`The rollback did not end in ${MAX_INVOCATIONS} invocations.`);
}
