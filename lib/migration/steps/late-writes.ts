// Carries over what was written to the old collection after the last look at it: a request that outlasted the freeze, or
// a program that still uses the old collection. Users are on the new version by then, so only what the late writes changed
// is changed, and nothing that a user has changed since: the backup says what was there before both.
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
import { scanCollection } from './recorded-counts.ts';

const figuresSchema = v.object({
  lateWrites: v.number(),
  /** Late writes to memories that a user has changed since: the user's own change stays. */
  lateWritesOverruled: v.number(),
});

type Figures = v.InferOutput<typeof figuresSchema>;

const NONE: Figures = { lateWrites: 0, lateWritesOverruled: 0 };

/** Checkpoint; the backup is restored only where something was written late. */
export const lateWritesSchema = v.object({
  /** Fingerprint of the old collection with these writes; null where there are none. */
  found: v.optional(v.nullable(v.string())),
  ...restoringEntries,
  figures: v.optional(figuresSchema),
  isDone: v.optional(v.boolean()),
});

type State = v.InferOutput<typeof lateWritesSchema>;

export async function carryOverLateWrites(
  context: StepContext,
  { from, save }: { readonly from: State; readonly save: (state: State) => Promise<void> },
): Promise<Reached<State>> {
  const { services, run } = context;
  if (from.isDone) return { isComplete: true, state: from };
  const found = from.found ?? (await changedFingerprint(services, run)) ?? null;
  if (found === null) return { isComplete: true, state: { found, figures: NONE, isDone: true } };
  const base = drillCollectionOf(run);
  const { snapshot } = await readManifest(services, run);
  const stages: readonly Stage<State>[] = [
    restoreSnapshot(base, () => snapshot),
    {
      isDone: ({ figures }) => figures !== undefined,
      advance: async () => ({ figures: await carryOver(context, base) }),
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

/** Facts for a report. */
export function lateWriteFacts({
  found,
  figures,
}: State): Readonly<Record<string, string | number>> {
  return { ...figures, ...(found && { [OLD_FINGERPRINT]: found }) };
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
  const carriedOver = run.evidence['cutover-report']?.facts[OLD_FINGERPRINT];
  const known = carriedOver ?? verifiedFingerprint(run);
  return contents.digest === known ? undefined : contents.digest;
}

async function carryOver(context: StepContext, base: string): Promise<Figures> {
  const { services, run, renew } = context;
  const { vectors: store } = services;
  const names = { from: run.plan.sourceCollection, to: liveCollectionOf(run) };
  const settings = await copySettings(store, names);
  const { from, to } = settings;
  const writer = createPointWriter(settings, renew);
  const request = { limit: settings.pageSize };
  const before = { store, collection: base, request };
  const after = { ...from, request };
  let found = NONE;
  for await (const { id, from: was, to: is } of pairedPoints(before, after)) {
    if (isSame(was, is) || (is && userOf(is.payload) === testUserOf(run.runId))) continue;
    const [now] = await store.retrieve(to.collection, [id]);
    // A step that was interrupted here may have applied it already.
    const isOverruled = ![was, is].some((known) => isSame(known, now, 'payload'));
    found = {
      lateWrites: found.lateWrites + 1,
      lateWritesOverruled: found.lateWritesOverruled + (isOverruled ? 1 : 0),
    };
    if (!isOverruled) await apply(writer, id, { was, is });
  }
  return found;
}

async function apply(
  { insert, replace, remove }: ReturnType<typeof createPointWriter>,
  id: PointId,
  { was, is }: { was: ScrolledPoint | undefined; is: ScrolledPoint | undefined },
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
