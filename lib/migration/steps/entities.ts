// Moves entities, which the new version derives from memories and keeps in a companion collection. If users worked with the new
// version before the run, their entities move with their memories; the old version has no entities. Entities only rank memories,
// so those that only the standby companion has are not carried back.
import { copyConfiguration } from '../configuration.ts';
import type { Run } from '../runs/run.ts';
import { withCompanion } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { assertEqual, equalise } from './equalise.ts';

export function movesEntities({ plan }: Pick<Run, 'plan'>): boolean {
  return plan.sameVersion === true && !plan.inPlace;
}

/**
 * Makes the companion of `to` equal to the companion of `from`.
 * @returns the number of entities in the companion of `to`, and of those that are missing there
 * @throws Refusal if entities are missing, unless `mayLack`
 */
export async function moveEntities(
  context: StepContext,
  options: {
    /** Collections of memories, each with a companion */
    readonly from: string;
    readonly to: string;
    /** True if some entities may be missing: a rollback continues without them. */
    readonly mayLack?: boolean;
  },
): Promise<{ readonly entities: number; readonly entitiesLacking?: number }> {
  const { vectors } = context.services;
  const [, active] = withCompanion(options.from);
  const [, standby] = withCompanion(options.to);
  // Before the first entity, there is no companion.
  if (!(await vectors.collectionExists(active))) return { entities: 0 };
  await context.stages.once('configured', (context) =>
    configureCompanion(context, { active, standby }),
  );
  const names = { active, standby };
  const { report, faults } = await equalise(context, {
    ...names,
    walk: 'entities',
    // Every entity that was read must arrive, even if users are writing.
    users: 'frozen',
    onExcess: 'insert',
    // Entities change with their memories, so changes have no limit. Removals have one: a collection without entities is damaged.
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
  // Saved first, so that the companion is configured again after a kill.
  await saveCursor(true);
  if (!exists) {
    const params = (await vectors.readCollectionInfo(active))?.config.params;
    const { vectors: dense = {}, sparse_vectors = {} } = params ?? {};
    await vectors.createCollection(standby, { vectors: dense, sparse_vectors });
  }
  await copyConfiguration(vectors, { from: active, to: standby });
}
