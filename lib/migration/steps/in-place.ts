// Migrates without a second collection: the keyword slot is added to the active collection, and filled while users write. In the
// window, the new version is deployed on that collection. No data is copied in either direction.
import { measureSpeed } from '../forecast.ts';
import {
  addKeywordSlot,
  countUnfilled,
  fillUnfilled,
  listVersions,
  SOURCE_SLOT,
  sampleDigest,
  type VersionWalk,
  walkVersions,
} from '../keyword-fill.ts';
import { createBatchWriter } from '../point-writer.ts';
import { KEYWORD_SLOT } from '../points.ts';
import { Refusal } from '../refusals.ts';
import { outOfTime } from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import type { Reference } from '../runs/run.ts';
import { liveCollectionsOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';
import { haveSameMemories } from './comparison.ts';
import { countUsers, storeCounts } from './recorded-counts.ts';
import { changeSlots } from './slot-change.ts';

function getSourcePlace({ services, run }: Pick<StepRequest, 'services' | 'run'>) {
  return { store: services.vectors, collection: run.plan.sourceCollection };
}

/**
 * Adds the keyword slot to the active collection. The settings of the slot are learned from the collection that the new version
 * created for the test user.
 * @returns the number of deletions that the store had undone and that were repeated
 */
export async function addLearnedSlot(context: StepContext): Promise<number> {
  const { services, run, updateRun } = context;
  const { vectors } = services;
  const { sourceCollection, targetCollection } = run.plan;
  const readSlots = async (name: string) =>
    (await vectors.readCollectionInfo(name))?.config.params.sparse_vectors ?? {};
  const { [KEYWORD_SLOT]: learnedSlot } = await readSlots(targetCollection);
  if (!learnedSlot)
    throw new Refusal('RefusedNewVersion', `${targetCollection} has no keyword slot.`);
  if (!run.hadBefore) {
    const hasSlot = KEYWORD_SLOT in (await readSlots(sourceCollection));
    const hasCompanion = await vectors.collectionExists(liveCollectionsOf(run)[1]);
    // An abort must keep what existed before the run.
    await updateRun({ hadBefore: { hasSlot, hasCompanion } });
  }
  return await changeSlots(context, sourceCollection, () =>
    addKeywordSlot(getSourcePlace(context), learnedSlot),
  );
}

/** Point at which an interrupted filling resumes */
export interface Filling {
  /** The walk reads points with a higher version, as in `walkVersions`. */
  readonly since: number;
  readonly filled: number;
  readonly walk?: VersionWalk | undefined;
}

/**
 * Fills the keyword slot, which replaces the copy. In the window, fills only points written since the last fill.
 * @returns the verification report
 */
export async function fillInPlace(context: StepContext<Filling>): Promise<Reference> {
  const { run, renewLease, cursor, saveCursor, checkpoint } = context;
  const place = getSourcePlace(context);
  const total = await place.store.count(place.collection);
  const start = cursor ?? { since: await findFilledVersion(context), filled: 0 };
  const filledNow = await fillUnfilled(place, {
    renewLease,
    checkpoint: async (read) => {
      const filled = start.filled + (await read());
      await checkpoint(() => ({ ...start, filled }), { progress: { done: filled, total } });
    },
  });
  const filled = start.filled + filledNow;
  const walk = await walkVersions(place, start.since, {
    renewLease,
    cursor: start.walk,
    checkpoint: async (read) => {
      const walk = await read();
      const progress = { done: walk.points, total };
      await checkpoint(() => ({ ...start, filled, walk }), { progress });
    },
  });
  if (run.phase !== 'switching' || walk.refilled === 0) {
    return await storeFilled(context, walk, filled + walk.refilled);
  }
  // Refilled points have newer versions than the walk has listed, so another walk follows.
  await saveCursor({ since: walk.highest, filled: filled + walk.refilled });
  throw outOfTime();
}

/**
 * Finds the highest version that the last fill reached. Before the window, or if shards number their writes separately, all points
 * are checked.
 */
async function findFilledVersion({ services, run }: StepRequest): Promise<number> {
  const { highest = ANY_VERSION } = run.evidence['verification-report']?.facts ?? {};
  if (run.phase !== 'switching') return ANY_VERSION;
  const shards = await services.vectors.listShardStates(run.plan.sourceCollection);
  return shards.length === 1 ? Number(highest) : ANY_VERSION;
}

const ANY_VERSION = -1;

async function storeFilled(
  context: StepContext<Filling>,
  { points, digest: fingerprint, highest }: VersionWalk,
  filled: number,
): Promise<Reference> {
  const { services, run, renewLease } = context;
  const place = getSourcePlace(context);
  // The last batch may have left the store unhealthy.
  await createBatchWriter(place, renewLease).assertMayWrite();
  const pending = await countUnfilled(place);
  if (run.phase === 'switching' && pending > 0) {
    const why = `The store does not fill the keywords of ${pending} of ${points} points of ${place.collection}.`;
    throw new Refusal('RefusedVerification', why);
  }
  const sample = await sampleDigest(place);
  const userCounts = await countUsers(services, run, place.collection);
  const counts = await storeCounts(context, userCounts);
  // Measured only before the window, to forecast the walk in the window.
  const speed = run.phase !== 'switching' && (await measureWalkSpeed(context, points));
  return await storeReport(context, 'verification-report', {
    facts: { ...counts.facts, fingerprint, sample, points, filled, pending, highest, ...speed },
    details: { collection: place.collection, counts },
  });
}

async function measureWalkSpeed(context: StepContext, points: number) {
  const { clock } = context.services;
  const startedAt = clock().getTime();
  await listVersions(getSourcePlace(context));
  return { perSecond: measureSpeed(points, clock().getTime() - startedAt) };
}

/**
 * Final check before writes are opened: every sum is the same as at the freeze, and every point is filled. An upsert would leave
 * its point unfilled.
 * @throws Refusal if anything was written since the freeze
 */
export async function assertUnchangedSinceFreeze(context: StepContext): Promise<void> {
  const { facts = {} } = context.run.evidence['verification-report'] ?? {};
  const place = getSourcePlace(context);
  for (const [fact, sum] of Object.entries(createSums(context))) {
    if (await haveSameMemories(context, { sum }, { fingerprint: facts[fact] })) continue;
    throw refuseSourceChange(place.collection);
  }
  if ((await countUnfilled(place)) > 0) throw refuseSourceChange(place.collection);
}

/** Sums, each under the fact that recorded it: versions of points, the content of a sample, and counts by user */
function createSums(context: StepRequest) {
  const place = getSourcePlace(context);
  return {
    fingerprint: async () => (await listVersions(place)).digest,
    sample: () => sampleDigest(place),
    usersDigest: async () => {
      const { contents } = await countUsers(context.services, context.run, place.collection);
      return contents.usersDigest;
    },
  };
}

function refuseSourceChange(collection: string): Refusal {
  return new Refusal('RefusedSourceChanged', `${collection} was written to after it was frozen.`);
}

/** Removes the fingerprints of the texts: they have no purpose once the run has ended. */
export async function removeTextFingerprints(context: StepContext): Promise<void> {
  const { services, run } = context;
  if (run.hadBefore) await removeSlots(context, [SOURCE_SLOT], services.vectors);
}

async function removeSlots(
  context: StepContext,
  slots: readonly string[],
  vectors: Pick<StepContext['services']['vectors'], 'removeVector'>,
): Promise<void> {
  const { sourceCollection } = context.run.plan;
  await changeSlots(context, sourceCollection, async () => {
    for (const slot of slots) {
      await context.renewLease();
      await vectors.removeVector(sourceCollection, slot);
    }
  });
}

/**
 * Removes the fingerprints. Also removes the keyword slot and the companion, if the run created them and users have never worked
 * with them.
 */
export async function undoInPlace(context: StepContext): Promise<void> {
  const { services, run, renewLease } = context;
  const { vectors } = services;
  const [source, companion] = liveCollectionsOf(run);
  const usersWorkedOnNew = run.served.some(({ collection }) => collection === source);
  if (!run.hadBefore || usersWorkedOnNew) return await removeTextFingerprints(context);
  const ownSlots = run.hadBefore.hasSlot ? [SOURCE_SLOT] : [SOURCE_SLOT, KEYWORD_SLOT];
  await removeSlots(context, ownSlots, vectors);
  await renewLease();
  if (!run.hadBefore.hasCompanion) await vectors.deleteCollection(companion);
}
