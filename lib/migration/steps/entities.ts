// The entities of memories, in a companion collection that the new version makes. If users worked with that version before the run,
// their entities move as their memories do; the old version has none. Entities are derived from the memories and rank them, so
// nothing that only the standby has is carried back.
import type { VectorStore } from '../adapters/qdrant.ts';
import { bringConfiguration } from '../configuration.ts';
import { copySettings } from '../point-writer.ts';
import { RECONCILE_START, type ReconcileCheckpoint } from '../reconcile.ts';
import { pendingIn } from '../reconcile-report.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import type { Progress, Run } from '../runs/run.ts';
import { testUserOf, withCompanion } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { expectedLimit, reconcileInStep } from './equality.ts';

export function movesEntities({ plan }: Pick<Run, 'plan'>): boolean {
  return plan.sameVersion === true && !plan.inPlace;
}

export type EntitiesReached = ReconcileCheckpoint & {
  /** A walk that must not remove anything inserts to its end, however many invocations it takes. */
  readonly insertsOnly?: boolean;
  /** The companion may have been made without its configuration. */
  readonly isMaking?: boolean;
};

/**
 * Makes the companion of one collection equal to that of the other.
 * @returns how many entities it has then, and how many it lacks; undefined if time ran out
 * @throws Refusal if it must not lack any
 */
export async function moveEntities(
  context: StepContext,
  options: {
    /** Collections of the memories. */
    readonly from: string;
    readonly to: string;
    /** A rollback takes users back also without some: they rank memories, and lose none. */
    readonly mayLack?: boolean;
    readonly reached: EntitiesReached | undefined;
    readonly save: (reached: EntitiesReached, progress?: Progress) => Promise<void>;
  },
): Promise<{ readonly entities: number; readonly entitiesLacking?: number } | undefined> {
  const { services, run, renew } = context;
  const { vectors } = services;
  const reached: EntitiesReached = options.reached ?? RECONCILE_START;
  const [, from] = withCompanion(options.from);
  const [, to] = withCompanion(options.to);
  // The first entity makes it.
  if (!(await vectors.collectionExists(from))) return { entities: 0 };
  await renew();
  const isMissing = !(await vectors.collectionExists(to));
  if (isMissing || reached.isMaking) {
    await options.save({ ...reached, isMaking: true });
    await makeLike(vectors, { from, to, isMissing });
  }
  const limit = expectedLimit({ points: await vectors.count(to) });
  const settings = {
    ...(await copySettings(vectors, { from, to })),
    without: testUserOf(run.runId),
  };
  const walk = async (start: ReconcileCheckpoint, insertsOnly: boolean) =>
    await reconcileInStep(
      context,
      { ...settings, mode: insertsOnly ? 'insert' : 'repair', limit },
      {
        walk: 'entities',
        start,
        save: async (walked, progress) => await options.save({ ...walked, insertsOnly }, progress),
      },
    );
  // An emptied or replaced collection must not empty the other one.
  const { insertsOnly = (await vectors.count(from)) === 0 } = reached;
  const end = await walk(reached, insertsOnly).catch((error: unknown) => {
    if (!isRefusal(error, 'RefusedMassChange')) throw error;
    return walk(RECONCILE_START, true);
  });
  if (!end.isComplete) return undefined;
  const { missing } = end.report.pending;
  const entities = end.report.to.points;
  if (missing === 0) return { entities };
  if (options.mayLack) return { entities, entitiesLacking: missing };
  const why = `${to} could not be made equal to ${from}: ${pendingIn(end.report).join(', ')}.`;
  throw new Refusal('RefusedVerification', why);
}

async function makeLike(
  vectors: VectorStore,
  {
    from,
    to,
    isMissing,
  }: { readonly from: string; readonly to: string; readonly isMissing: boolean },
): Promise<void> {
  if (isMissing) {
    const params = (await vectors.collectionInfo(from))?.config.params;
    const { vectors: dense = {}, sparse_vectors = {} } = params ?? {};
    await vectors.createCollection(to, { vectors: dense, sparse_vectors });
  }
  await bringConfiguration(vectors, { from, to });
}
