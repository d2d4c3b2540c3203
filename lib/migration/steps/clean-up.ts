// Removes a run's own collections, snapshots and test writes from the store.
import { isRefusedWith, Refusal } from '../refusals.ts';
import { parseJournal, readJournal } from '../runs/journal.ts';
import type { Run } from '../runs/run.ts';
import { collectionsOf, filterTestUser, withCompanion } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { removeAbandonedSnapshots } from '../snapshots.ts';

type RemovalContext = Pick<StepContext, 'services' | 'run' | 'renewLease'>;

/** Never removes the active collection or its companion. Removes the old collection only if `keepsOld` is false. */
export async function removeCollections(
  { services: { vectors, setting }, run, renewLease }: RemovalContext,
  names: readonly string[],
  options: { readonly keepsOld?: boolean; readonly except?: readonly string[] } = {},
): Promise<void> {
  const { keepsOld = true, except = [] } = options;
  const activeCollections = withCompanion(await setting.read());
  const keptCollections = [
    ...activeCollections,
    ...except,
    ...(keepsOld ? [run.plan.sourceCollection] : []),
  ];
  for (const name of new Set(names)) {
    if (keptCollections.includes(name)) continue;
    await renewLease();
    await vectors.deleteCollection(name);
  }
}

/**
 * Removes the snapshot of an abandoned backup, and the collections that `listOwnCollections` lists.
 * @param options collections to keep, because users may work on them
 */
export async function removeOwnCollections(
  context: RemovalContext,
  options: { readonly except: readonly string[] },
): Promise<void> {
  await removeLeftoverSnapshot(context);
  await removeCollections(context, listOwnCollections(context), options);
}

/** Lists the run's collections. Leaves out those that users worked on, until their retention period ends. */
export function listOwnCollections({
  services,
  run,
}: Pick<StepContext, 'services' | 'run'>): string[] {
  const now = services.clock().getTime();
  const retained = run.served
    .filter(({ until }) => until > now)
    .map(({ collection }) => collection);
  return collectionsOf(run).filter((name) => !retained.includes(name));
}

// A leftover snapshot takes as much space as the memories themselves.
async function removeLeftoverSnapshot(context: RemovalContext): Promise<void> {
  const { services, run } = context;
  const { sourceCollection } = run.plan;
  if (!(await services.vectors.collectionExists(sourceCollection))) return;
  const backupJournal = await readJournal(services, run.runId, 'backup');
  const windowJournal = await readJournal(services, run.runId, 'cutover');
  const windowCursor =
    windowJournal?.open?.stage === 'backed-up' ? windowJournal.open.cursor : undefined;
  for (const journal of [backupJournal, parseJournal(windowCursor)]) {
    if (journal) await removeAbandonedSnapshots(context, sourceCollection, journal);
  }
}

/** Removes the test user's points. @returns how many there were */
export async function removeTestWrites(
  { services, run, renewLease }: RemovalContext,
  collections: readonly string[],
): Promise<number> {
  let removed = 0;
  for (const name of collections) {
    const points = await countTestWrites(services, run, [name]);
    if (points === 0) continue;
    await renewLease();
    await services.vectors.deletePoints(name, { filter: filterTestUser(run) });
    removed += points;
  }
  return removed;
}

/** Removes all points of the test user, and checks that none is left. @throws Refusal if some remain */
export async function removeWarmUp(
  context: RemovalContext,
  collections: readonly string[],
): Promise<void> {
  await removeTestWrites(context, collections);
  // Repeated, because the new version may have written in the background meanwhile.
  await removeTestWrites(context, collections);
  const remaining = await countTestWrites(context.services, context.run, collections);
  if (remaining === 0) return;
  const collectionNames = collections.join(' and ');
  throw new Refusal(
    'RefusedNewVersion',
    `${remaining} points of the test user were still in ${collectionNames}.`,
  );
}

/** A deleted collection counts as empty. */
async function countTestWrites(
  { vectors }: Pick<Services, 'vectors'>,
  run: Run,
  collections: readonly string[],
): Promise<number> {
  let points = 0;
  for (const name of collections) {
    points += await vectors.count(name, filterTestUser(run)).catch(async (failure: unknown) => {
      // A 404 may come from a proxy: only the store knows that a collection does not exist.
      if (!isRefusedWith(failure, 404) || (await vectors.collectionExists(name))) throw failure;
      return 0;
    });
  }
  return points;
}

/**
 * Does optional work, such as freeing space, once traffic is open. A failure is only logged: it must not stop the step.
 * @param message what the operator must do by hand if the work fails
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
