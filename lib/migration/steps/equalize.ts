// Makes the collection that users return to equal to the one that they leave. It first counts what that would remove and
// change there: a mistake in the other collection, such as one that was emptied, must not be repeated in the last good copy.
import * as v from 'valibot';
import { copySettings } from '../point-writer.ts';
import { createDigestSum, digestOf, samePayload, userOf } from '../points.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import {
  faultsIn,
  pairedPoints,
  RECONCILE_START,
  type ReconcileCheckpoint,
  type ReconcileReport,
  type ReconcileSettings,
  reconcile,
} from '../reconcile.ts';
import { isRefusal, Refusal, type RefusalData } from '../refusals.ts';
import type { Progress } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';

const PAGE = 256;

/** What a walk would do to a collection. */
interface Changes {
  readonly removes: number;
  readonly changes: number;
  /** That the collection has before. */
  readonly points: number;
}

const EXPECTED_SHARE = 100;
const ALWAYS_EXPECTED = 20;

/** So many points may be removed, and so many changed, unless the operator gives another number. */
function limitOf({ points }: Pick<Changes, 'points'>, deletes?: number): number {
  return deletes ?? Math.max(ALWAYS_EXPECTED, Math.floor(points / EXPECTED_SHARE));
}

export function isExcessive(changes: Changes, deletes?: number): boolean {
  const limit = limitOf(changes, deletes);
  const isEmptied = changes.points > 0 && changes.removes === changes.points;
  if (isEmptied && deletes === undefined) return true;
  return changes.removes > limit || changes.changes > limit;
}

/** @throws Refusal with the numbers where it would remove or change more than expected */
export function assertExpected(changes: Changes, to: string, deletes?: number): void {
  if (!isExcessive(changes, deletes)) return;
  const { removes, changes: changed, points } = changes;
  const share = `remove ${removes} of ${points} points of ${to} and change ${changed}`;
  const limit = `expected are at most ${limitOf(changes, deletes)}`;
  throw unsafe(`This would ${share}; ${limit}.`, { deletes: Math.max(removes, changed) });
}

export function unsafe(why: string, data: RefusalData = {}): Refusal {
  return new Refusal('RefusedMassChange', why, { data });
}

interface Collections {
  readonly from: string;
  readonly to: string;
}

/** Payloads alone, as they are now: quick, and nothing is written. The test user's memories do not count. */
export async function countChanges(
  { services: { vectors: store }, run }: StepRequest,
  { from, to }: Collections,
) {
  const request = { limit: PAGE, vector: false };
  const ofTestUser = ({ payload }: ScrolledPoint) => userOf(payload) === testUserOf(run.runId);
  const digest = createDigestSum();
  const found = { adds: 0, removes: 0, changes: 0, points: 0 };
  const sides = [from, to].map((collection) => ({ store, collection, request })) as [Side, Side];
  for await (const { id, from: ours, to: theirs } of pairedPoints(...sides)) {
    if ([ours, theirs].some((point) => point && ofTestUser(point))) continue;
    if (theirs) {
      found.points += 1;
      digest.add(digestOf(id, theirs.payload));
    }
    if (!theirs) found.adds += 1;
    else if (!ours) found.removes += 1;
    else if (!samePayload(ours.payload, theirs.payload)) found.changes += 1;
  }
  return { ...found, digest: digest.text() };
}

type Side = Parameters<typeof pairedPoints>[0];

const walkSchema = v.optional(v.custom<ReconcileCheckpoint>(() => true));

/** Checkpoint of both walks. */
export const equalizingSchema = v.object({ compared: walkSchema, written: walkSchema });

export type Equalizing = v.InferOutput<typeof equalizingSchema>;

export interface EqualizeOptions extends Collections {
  /** Removed, and changed, are at most so many. */
  readonly deletes: number | undefined;
  /** insert: what is missing is inserted, and nothing is removed or changed. */
  readonly policy: 'refuse' | 'insert-if-excessive' | 'insert';
  /** Fingerprint of the collection that is changed: what was written to it since would be taken back. */
  readonly expected?: string | undefined;
  readonly reached: Equalizing;
  readonly save: (reached: Equalizing, progress: Progress) => Promise<unknown>;
}

/**
 * @returns how both were left; undefined when time was up; changed: it is not what was expected, and nothing is done
 * @throws Refusal where it would remove or change too much, or the collection could not be made equal
 */
export async function equalize(
  context: StepContext,
  options: EqualizeOptions,
): Promise<ReconcileReport | 'changed' | undefined> {
  const { from, to, deletes, policy, expected, reached, save } = options;
  const compared = await walk('compare', reached.compared, (compared, progress) =>
    save({ ...reached, compared }, progress),
  );
  if (!compared.isComplete) return undefined;
  const changes = changesIn(compared.report);
  const isChanged = expected !== undefined && compared.report.to.digest !== expected;
  if (isChanged && !reached.written) return 'changed';
  if (policy === 'refuse') assertExpected(changes, to, deletes);
  if (faultsIn(compared.report).length === 0) return compared.report;
  const mode = policy === 'insert' || isExcessive(changes, deletes) ? 'insert' : 'repair';
  const saveWritten = (written: ReconcileCheckpoint, progress: Progress) =>
    save({ compared, written }, progress);
  const written = await walk(mode, reached.written, saveWritten).catch((error: unknown) => {
    if (policy === 'refuse' || !isRefusal(error, 'RefusedMassChange')) throw error;
    return walk('insert', RECONCILE_START, saveWritten);
  });
  if (!written.isComplete) return undefined;
  const faults = faultsIn(written.report);
  const isWell = mode === 'insert' ? written.report.pending.missing === 0 : faults.length === 0;
  if (isWell) return written.report;
  const why = `${to} could not be made equal to ${from}: ${faults.join(', ')}.`;
  throw new Refusal('RefusedVerification', why);

  async function walk(
    mode: 'compare' | 'insert' | 'repair',
    start: ReconcileCheckpoint = RECONCILE_START,
    save: (reached: ReconcileCheckpoint, progress: Progress) => Promise<unknown>,
  ): Promise<ReconcileCheckpoint> {
    const settings = await reconcileSettings(context, mode, { from, to });
    const keep = async (walked: ReconcileCheckpoint, progress: Progress) =>
      void (await save(walked, progress));
    const options = { start, save: keep, assertRemovable };
    return await reconcileInStep(context, settings, options);
  }

  // Nobody may write by now: what has vanished since it was compared, no user has deleted. Counted anew each time, so that a
  // kill does not set it back.
  async function assertRemovable(): Promise<void> {
    const { points } = compared.report.from;
    const left = await context.services.vectors.count(from);
    if (points - left <= limitOf(compared.report.to, deletes)) return;
    throw unsafe(`${from} has ${left} points where ${points} were compared.`);
  }
}

function changesIn({ to, pending }: ReconcileReport): Changes {
  const { extra, payload, vector } = pending;
  return { removes: extra, changes: payload + vector, points: to.points };
}

/** Goes on from the checkpoint; not complete when time is up. */
export async function reconcileInStep(
  { renew, hasTime }: StepContext,
  settings: ReconcileSettings,
  options: {
    readonly start: ReconcileCheckpoint;
    readonly save: (reached: ReconcileCheckpoint, progress: Progress) => Promise<void>;
    readonly assertRemovable?: () => Promise<void>;
  },
): Promise<ReconcileCheckpoint> {
  const { start, assertRemovable } = options;
  const { store, collection } = settings.from;
  const total = await store.count(collection);
  const saveCheckpoint = (reached: ReconcileCheckpoint) =>
    options.save(reached, { done: reached.report.compared, total });
  const ports = {
    renew,
    isTimeUp: () => !hasTime(),
    saveCheckpoint,
    ...(assertRemovable && { assertRemovable }),
  };
  return await reconcile(settings, ports, start);
}

/** @param names of a copy, unless others are given */
export async function reconcileSettings(
  { services, run }: StepRequest,
  mode: ReconcileSettings['mode'],
  names = { from: run.plan.sourceCollection, to: run.plan.targetCollection },
): Promise<ReconcileSettings> {
  const settings = await copySettings(services.vectors, names);
  return { ...settings, mode, without: testUserOf(run.runId) };
}
