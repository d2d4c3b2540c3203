// Decides to which collection a rollback returns, and what happens to the writes since the switch. By default they are kept:
// the old collection, or its restored snapshot if it is missing or damaged, is made equal to the new one. Deciding changes
// nothing. What was decided, and what a refusal changes about it, is noted in the journal of the rollback.
import * as v from 'valibot';
import {
  assertNoAlias,
  checkKept,
  type KeptSnapshot,
  keptSnapshotSchema,
} from '../kept-snapshot.ts';
import { assertExpected, isExcessive, refuseMassChange } from '../mass-change.ts';
import { whyUnhealthy } from '../point-writer.ts';
import { readDenseVector } from '../ports/vector-store.ts';
import { isRefusal, isRetryableFailure, Refusal, recoverWith } from '../refusals.ts';
import { NOTHING_RECORDED, type RecordedJournal } from '../runs/journal.ts';
import { readManifest } from '../runs/reports.ts';
import { type Run, refusedSchema, wasOpened, wentLive } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { compare, countDifference } from './comparison.ts';

/**
 * carry: copies the writes since the switch to the collection that users return to.
 * as-it-was: leaves them behind; the old collection stays unchanged.
 * to-snapshot: leaves them behind, up to the number that the operator acknowledged.
 */
const FATES_OF_WRITES = ['carry', 'as-it-was', 'to-snapshot'] as const;

export const returnSchema = v.object({
  way: v.picklist(FATES_OF_WRITES),
  returnTo: v.string(),
  /** Snapshot to restore under the name `returnTo` */
  restores: v.optional(keptSnapshotSchema),
  /** Number of lost writes that the operator accepted at the start; an operator who continues need not repeat it. */
  acknowledged: v.number(),
  deletes: v.optional(v.number()),
  /** Traffic was never opened, yet the new version may have taken early writes: a deployment can leak. */
  mayHaveLeaked: v.boolean(),
  /** The old collection was gone: the last common version does not apply to what an operator restores in its place. */
  beginsBase: v.optional(v.boolean()),
});

export type Return = v.InferOutput<typeof returnSchema>;

/** @throws Refusal naming a missing or damaged collection or artifact, or the points that the rollback would remove */
export async function planReturn(request: StepRequest): Promise<Return> {
  const { services, run, input } = request;
  const { asItWas = false, toSnapshot = false } = input;
  const { deletes, acknowledgedLoss: acknowledged = 0 } = input;
  if (asItWas && toSnapshot) {
    throw new Refusal('RefusedSetting', 'Give either asItWas or toSnapshot, not both.');
  }
  const agreed = { acknowledged, deletes, mayHaveLeaked: await mayHaveEarlyWrites(services, run) };
  if (toSnapshot && wasOpened(run)) {
    return { way: 'to-snapshot', ...(await planSnapshotRestore(services, run)), ...agreed };
  }
  if (run.plan.inPlace) return await planReturnInPlace(request, agreed);
  const isIntact = await isUsable(services, run, !wasOpened(run) || asItWas);
  const target = isIntact
    ? { returnTo: run.plan.sourceCollection }
    : await planSnapshotRestore(services, run);
  if (!wasOpened(run) || asItWas) return { way: 'as-it-was', ...target, ...agreed };
  const problem = await whyUnreadable(services, run);
  if (problem === undefined) {
    if (wentLive(run)) await assertSafe(request, target, deletes);
    return { way: 'carry', ...target, ...agreed };
  }
  // The rollback of a window runs unattended: users return even if the new collection cannot be read.
  if (!wentLive(run)) return { way: 'as-it-was', ...target, ...agreed };
  throw refuseMassChange(`${problem}: users' writes since the switch cannot be carried over.`);
}

/** True if the new version may have taken writes although traffic was never opened. */
async function mayHaveEarlyWrites({ setting }: Services, run: Run): Promise<boolean> {
  return !wasOpened(run) && (await setting.read()) === liveCollectionOf(run);
}

/** Returns to the old collection without checking that it exists, for a rollback that only needs to open writes */
export async function planLastResort(services: Services, run: Run): Promise<Return> {
  const mayHaveLeaked = await mayHaveEarlyWrites(services, run);
  return { way: 'as-it-was', returnTo: run.plan.sourceCollection, acknowledged: 0, mayHaveLeaked };
}

/** @returns undefined if the snapshot cannot be restored */
export async function planRestore(services: Services, run: Run): Promise<Return | undefined> {
  const target = await planSnapshotRestore(services, run).catch(
    recoverWith(undefined, isUnrestorable),
  );
  return target && { way: 'as-it-was', ...target, acknowledged: 0, mayHaveLeaked: false };
}

const isUnrestorable = (error: unknown) => isRefusal(error, 'RefusedNothingToReturnTo');

/** In place, both versions work on the same points, so no write is left behind. */
async function planReturnInPlace(
  { services, run }: StepRequest,
  agreed: Pick<Return, 'acknowledged' | 'deletes'>,
): Promise<Return> {
  const { sourceCollection } = run.plan;
  const exists = (await services.vectors.listCollections()).includes(sourceCollection);
  const target = exists ? { returnTo: sourceCollection } : await planSnapshotRestore(services, run);
  return { ...agreed, way: 'as-it-was', ...target, mayHaveLeaked: false };
}

/** Why the new collection cannot be read; undefined if it can. */
export async function whyUnreadable({ vectors }: Services, run: Run): Promise<string | undefined> {
  const live = liveCollectionOf(run);
  if (!(await vectors.listCollections()).includes(live)) return `${live} was deleted`;
  try {
    await vectors.scroll(live, { limit: 1 });
    return undefined;
  } catch (error) {
    if (!isPermanent(error)) throw error;
    return `${live} cannot be read (${error.message})`;
  }
}

/** True for an error that waiting would not cure: the store repeats it on every request. */
function isPermanent(error: unknown): error is Error {
  return isRetryableFailure(error) ? error.answer === 500 : isRefusal(error, 'RefusedByService');
}

// Refuse here, while it is cheap: writes are not frozen yet, and users notice nothing.
async function assertSafe(
  request: StepRequest,
  { returnTo, restores }: { readonly returnTo: string; readonly restores?: KeptSnapshot },
  deletes: number | undefined,
): Promise<void> {
  const live = liveCollectionOf(request.run);
  if (restores) {
    return assertExpected(await countDifference(request, live), returnTo, deletes);
  }
  const { base } = request.run;
  const changes = await compare(request, { active: live, standby: returnTo, base });
  assertExpected(changes, returnTo, deletes);
}

async function planSnapshotRestore(services: Services, run: Run) {
  const manifest = await readManifest(services, run).catch(rethrowAsNoRollback);
  assertSameMinor(manifest.storeVersion, await services.vectors.version());
  const returnTo = restoredCollectionOf(run);
  await assertNoAlias(services.vectors, returnTo).catch((error: unknown) => {
    throw isRefusal(error, 'RefusedNameTaken') ? rethrowAsNoRollback(error) : error;
  });
  await checkKept(services.artifacts, manifest.snapshot).catch(rethrowAsNoRollback);
  return { returnTo, restores: manifest.snapshot };
}

// If traffic was never opened, users never left the old collection: it is usable in any state. Afterwards it needs the same
// layout if it is made equal to the new one, and must be complete if it is used unchanged.
async function isUsable(services: Services, run: Run, staysUnchanged = false): Promise<boolean> {
  const { vectors } = services;
  const { sourceCollection } = run.plan;
  if (!(await vectors.listCollections()).includes(sourceCollection)) return false;
  if (!wasOpened(run)) return true;
  if (!(await isWritable(services, run))) return false;
  if (!staysUnchanged) return true;
  return !isExcessive(await countDifference({ services, run }, sourceCollection));
}

async function isWritable({ vectors }: Services, { plan, ...run }: Run): Promise<boolean> {
  const old = await vectors.collectionInfo(plan.sourceCollection);
  if (!old || whyUnhealthy(old) !== undefined) return false;
  const live = await vectors.collectionInfo(liveCollectionOf({ plan, ...run }));
  if (!live) return true;
  const [before, after] = [old, live].map(readDenseVector);
  return before?.size === after?.size && before?.distance === after?.distance;
}

// A store reads snapshots of its own minor version only: after loading one of a newer version, it would not start.
function assertSameMinor(made: string, running: string): void {
  const readMinor = (version: string) => version.split('.').slice(0, 2).join('.');
  if (readMinor(made) === readMinor(running)) return;
  throw noRollback(`The snapshot is of version ${made} and the store runs ${running}.`);
}

function noRollback(why: string, cause?: unknown): Refusal {
  return new Refusal('RefusedNothingToReturnTo', why, { cause });
}

function rethrowAsNoRollback(error: unknown): never {
  throw error instanceof Refusal ? noRollback(error.why, error) : error;
}

/** A rollback that begins while writes are frozen has passed this stage already. */
export const FREEZING = 'freezing';

const notesSchema = v.object({
  /** Undefined if the old collection was never left. */
  plan: v.optional(returnSchema),
  /** Time of the first refusal that keeps writes frozen, until a repair lets more stages pass */
  failingSince: v.optional(v.number()),
  /** Number of stages that had passed at that refusal; unknown if users have waited since before the rollback */
  failingAfter: v.optional(v.number()),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
  /** Writes are opened there without a proof. */
  unproved: v.optional(v.object({ to: v.string(), why: v.string() })),
});

/** Decisions about a rollback: they hold for every stage, and are kept when stages are repeated. */
export type Notes = v.InferOutput<typeof notesSchema>;

export function readNotes({ noted = {} }: RecordedJournal): Notes {
  return v.parse(notesSchema, noted);
}

/** Collection that a rollback takes users to */
export function findReturnCollection({ plan }: Pick<Run, 'plan'>, notes: Notes): string {
  return notes.unproved?.to ?? notes.plan?.returnTo ?? plan.sourceCollection;
}

export function addNotes(journal: RecordedJournal, notes: Notes): RecordedJournal {
  return { ...journal, noted: { ...journal.noted, ...notes } };
}

/** The first record of a rollback. Where one has failed before, writes are frozen already. */
export function beginRollback(notes: Notes): RecordedJournal {
  const begun = { ...NOTHING_RECORDED, noted: notes };
  return notes.failingSince === undefined ? begun : markFrozen(begun);
}

export function markFrozen({ passed, ...journal }: RecordedJournal): RecordedJournal {
  return { ...journal, passed: { ...passed, [FREEZING]: {} } };
}

/** Writes may have been opened since: repeats every stage except the freeze, beginning with the restore of a snapshot. */
export function beginAgain({ passed, noted = {} }: RecordedJournal): RecordedJournal {
  const { [FREEZING]: begun } = passed;
  return { passed: begun ? { [FREEZING]: begun } : {}, noted };
}
