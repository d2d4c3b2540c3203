// Carries over what was written to a collection while users were on the other one. Late writes came to the old collection
// after the last look at it: a request that outlasted the freeze, or a program that still uses it. Leaked writes came to
// the new one before it was their turn. Only what they changed is changed, and nothing that a user has changed since:
// the backup says what was there before both. What would remove or change too much at once is no work of a few writes.
import * as v from 'valibot';
import { copySettings, createPointWriter } from '../point-writer.ts';
import { samePayload, sameVector, userOf } from '../points.ts';
import type { PointId, ScrolledPoint } from '../ports/vector-store.ts';
import { pairedPoints } from '../reconcile.ts';
import { readManifest } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import { drillCollectionOf, liveCollectionOf, testUserOf } from '../runs/run-names.ts';
import { type Reached, type Stage, takeStages } from '../runs/stages.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { restoreSnapshot, restoringEntries } from '../snapshots.ts';
import { removeCollections } from './clean-up.ts';
import { verifiedFingerprint } from './copy.ts';
import { isExcessive } from './equalize.ts';
import { scanCollection } from './recorded-counts.ts';

const figuresSchema = v.object({
  writes: v.number(),
  /** Writes to memories that a user has changed since: the user's own change stays. */
  overruled: v.number(),
  /** Deletions and changes that are none of users, or too many to be: they stay where they were made. */
  withheld: v.number(),
});

type Figures = v.InferOutput<typeof figuresSchema>;

const NONE: Figures = { writes: 0, overruled: 0, withheld: 0 };

/** Checkpoint; the backup is restored only where something was written. */
export const carryingSchema = v.object({
  /** Fingerprint of the collection with these writes; null where there are none. */
  found: v.optional(v.nullable(v.string())),
  ...restoringEntries,
  figures: v.optional(figuresSchema),
  isDone: v.optional(v.boolean()),
});

export type Carrying = v.InferOutput<typeof carryingSchema>;

interface Places {
  /** With the writes. */
  readonly from: string;
  /** That users work on. */
  readonly to: string;
  /** Whether a version of the backend made the change, so that it is no damage; all are, unless told otherwise. */
  readonly isOfUser?: (was: ScrolledPoint, is: ScrolledPoint) => boolean;
}

interface Progress {
  readonly from: Carrying;
  readonly save: (state: Carrying) => Promise<void>;
}

/** From the old collection to the new one. */
export async function carryOverLateWrites(
  context: StepContext,
  progress: Progress,
): Promise<Reached<Carrying>> {
  const { services, run } = context;
  const places = { from: run.plan.sourceCollection, to: liveCollectionOf(run) };
  return await carryOver(context, places, () => changedFingerprint(services, run), progress);
}

/** From the new collection to the one that users never left. */
export async function carryOverLeaks(
  context: StepContext,
  to: string,
  progress: Progress,
): Promise<Reached<Carrying>> {
  const { services, run } = context;
  const from = liveCollectionOf(run);
  const find = async () => {
    if (!(await services.vectors.collectionExists(from))) return undefined;
    const { digest } = (await scanCollection(services, run, from)).contents;
    return digest === verifiedFingerprint(run) ? undefined : digest;
  };
  return await carryOver(context, { from, to, isOfUser: isLaterChange }, find, progress);
}

async function carryOver(
  context: StepContext,
  places: Places,
  find: () => Promise<string | undefined>,
  { from, save }: Progress,
): Promise<Reached<Carrying>> {
  const { services, run } = context;
  if (from.isDone) return { isComplete: true, state: from };
  const found = from.found ?? (await find()) ?? null;
  if (found === null) return { isComplete: true, state: { found, figures: NONE, isDone: true } };
  const base = drillCollectionOf(run);
  const { snapshot } = await readManifest(services, run);
  const stages: readonly Stage<Carrying>[] = [
    restoreSnapshot(base, () => snapshot),
    {
      isDone: ({ figures }) => figures !== undefined,
      advance: async () => ({
        figures: await applyChanges(context, base, places),
      }),
    },
    {
      isDone: ({ isDone }) => isDone === true,
      advance: async () => {
        await removeCollections(context, [base]);
        return { isDone: true };
      },
    },
  ];
  return await takeStages(context, stages, { from: { ...from, found }, save });
}

/** Facts for a report; none where nothing was written. */
export function lateWriteFacts({ found, figures = NONE }: Carrying) {
  if (!found) return {};
  const { writes, overruled, withheld } = figures;
  return {
    lateWrites: writes,
    lateWritesOverruled: overruled,
    [OLD_FINGERPRINT]: found,
    ...(withheld > 0 && { lateWritesWithheld: withheld }),
  };
}

/** The same of leaked writes. */
export function leakFacts({ found, figures = NONE }: Carrying) {
  if (!found) return {};
  const { writes, overruled, withheld } = figures;
  return {
    leakedWrites: writes,
    leakedWritesOverruled: overruled,
    ...(withheld > 0 && { leakedWritesWithheld: withheld }),
  };
}

/** Whether something of them is only where it was written. */
export function isLeftBehind({ figures = NONE }: Carrying): boolean {
  return figures.overruled + figures.withheld > 0;
}

const OLD_FINGERPRINT = 'oldFingerprint';

/**
 * The fingerprint of the old collection where it is another than when both were compared, or when late writes were
 * carried over; undefined too where the collection is gone.
 */
export async function changedFingerprint(
  services: Services,
  run: Run,
): Promise<string | undefined> {
  const { sourceCollection } = run.plan;
  if (!(await services.vectors.collectionExists(sourceCollection))) return undefined;
  const { contents } = await scanCollection(services, run, sourceCollection);
  return contents.digest === knownFingerprint(run) ? undefined : contents.digest;
}

/** Of the old collection, as the run last knew it. */
export function knownFingerprint(run: Run): string {
  const carriedOver = run.evidence['cutover-report']?.facts[OLD_FINGERPRINT];
  return carriedOver === undefined ? verifiedFingerprint(run) : String(carriedOver);
}

/** A memory that was written to. */
interface Change {
  readonly id: PointId;
  readonly was: ScrolledPoint | undefined;
  readonly is: ScrolledPoint | undefined;
}

async function applyChanges(
  context: StepContext,
  base: string,
  { from: changed, to, isOfUser = () => true }: Places,
): Promise<Figures> {
  const { services, run, renew } = context;
  const { vectors: store } = services;
  const settings = await copySettings(store, { from: changed, to });
  const writer = createPointWriter(settings, renew);
  const request = { limit: settings.pageSize };

  async function* changes(): AsyncGenerator<Change> {
    const before = { store, collection: base, request };
    for await (const pair of pairedPoints(before, { ...settings.from, request })) {
      const { id, from: was, to: is } = pair;
      if (isSame(was, is) || (is && userOf(is.payload) === testUserOf(run.runId))) continue;
      yield { id, was, is };
    }
  }

  const found = { removes: 0, changes: 0, points: await store.count(base) };
  for await (const { was, is } of changes()) {
    if (!is) found.removes += 1;
    else if (was) found.changes += 1;
  }
  const insertsOnly = isExcessive(found);
  const figures = { ...NONE };
  for await (const { id, was, is } of changes()) {
    figures.writes += 1;
    if (was && (insertsOnly || (is && !isOfUser(was, is)))) {
      figures.withheld += 1;
      continue;
    }
    const [now] = await store.retrieve(to, [id]);
    // A step that was interrupted here may have applied it already.
    const isOverruled = ![was, is].some((known) => isSame(known, now, 'payload'));
    if (isOverruled) figures.overruled += 1;
    else await apply(writer, { id, was, is });
  }
  return figures;
}

/** By the time that mem0 notes in the payload. */
function isLaterChange(was: ScrolledPoint, is: ScrolledPoint): boolean {
  return changedAt(is) > changedAt(was);
}

function changedAt({ payload }: ScrolledPoint): number {
  const { updated_at, created_at } = (JSON.parse(payload) ?? {}) as Record<string, unknown>;
  const time = Date.parse(String(updated_at ?? created_at));
  return Number.isNaN(time) ? 0 : time;
}

async function apply(
  { insert, replace, remove }: ReturnType<typeof createPointWriter>,
  { id, was, is }: Change,
): Promise<void> {
  if (!is) await remove([id]);
  else if (was) await replace([is]);
  else await insert([is]);
}

function isSame(
  one: ScrolledPoint | undefined,
  other: ScrolledPoint | undefined,
  compared: 'payload' | 'all' = 'all',
): boolean {
  if (!one || !other) return one === other;
  if (!samePayload(one.payload, other.payload)) return false;
  return compared === 'payload' || sameVector(one.vector, other.vector);
}
