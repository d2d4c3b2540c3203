// Moves the entities of memories, which the new version keeps in a companion collection. If users worked with that version before
// the run, their entities move with their memories; the old version has none. Entities are derived from the memories and only
// rank them, so those that only the standby has are not carried back.
import { copyConfiguration } from '../configuration.ts';
import type { Run } from '../runs/run.ts';
import { withCompanion } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { assertEqual, equalise } from './equalise.ts';

export function movesEntities({ plan }: Pick<Run, 'plan'>): boolean {
  return plan.sameVersion === true && !plan.inPlace;
}

/**
 * Makes the companion of one collection equal to that of the other.
 * @returns the number of its entities, and of those that it lacks
 * @throws Refusal if it lacks some that it must have
 */
export async function moveEntities(
  context: StepContext,
  options: {
    /** Collections of the memories */
    readonly from: string;
    readonly to: string;
    /** True if some entities may be missing: a rollback continues without them. */
    readonly mayLack?: boolean;
  },
): Promise<{ readonly entities: number; readonly entitiesLacking?: number }> {
  const { vectors } = context.services;
  const [, active] = withCompanion(options.from);
  const [, standby] = withCompanion(options.to);
  // The new version creates the companion with the first entity.
  if (!(await vectors.collectionExists(active))) return { entities: 0 };
  await context.stages.once('configured', (context) =>
    configureCompanion(context, { active, standby }),
  );
  const names = { active, standby };
  const { report, faults } = await equalise(context, {
    ...names,
    walk: 'entities',
    // Entities that were read must arrive, even while users write.
    users: 'frozen',
    onExcess: 'insert',
    // Changed entities follow from changed memories; a collection that lost its entities is damaged.
    limitedChanges: 'none',
  });
  const entities = report.to.points;
  if (faults.length > 0 && options.mayLack) {
    return { entities, entitiesLacking: report.pending.missing };
  }
  assertEqual(names, faults);
  return { entities };
}

async function configureCompanion(
  { services: { vectors }, cursor: hasBegun, saveCursor }: StepContext,
  { active, standby }: { readonly active: string; readonly standby: string },
): Promise<void> {
  const exists = await vectors.collectionExists(standby);
  if (exists && !hasBegun) return;
  // After a kill, the companion is configured again.
  await saveCursor(true);
  if (!exists) {
    const params = (await vectors.readCollectionInfo(active))?.config.params;
    const { vectors: dense = {}, sparse_vectors = {} } = params ?? {};
    await vectors.createCollection(standby, { vectors: dense, sparse_vectors });
  }
  await copyConfiguration(vectors, { from: active, to: standby });
}
